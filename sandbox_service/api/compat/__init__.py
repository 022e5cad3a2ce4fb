"""Routes with the request and response formats of other services, one module each, so that a trainer changes only a
URL.

Unknown fields are ignored, as in the original services, but misspelt ones are refused (`bodies`). Most of the clients
know nothing of a queue and turn an error into a reward of 0. So a submission that the queue refuses is held, and a
fault of the service is retried before it is reported (`held_grading`). A fault that remains is translated into the
closest answer that the client understands.
"""

from collections.abc import Callable, Sequence

from fastapi import APIRouter
from pydantic import BaseModel

from sandbox_service.api.compat import (
    common_evaluate,
    evaluation,
    execute,
    get_reward,
    health,
    judge0,
    judge0_wire,
    open_instruct,
    piston,
    prompts,
    run_code,
    slime,
    submit,
    verify,
)
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings

ROUTES: Sequence[Callable[[JobQueue, Settings], APIRouter]] = (
    run_code.routes,
    submit.routes,
    prompts.routes,
    common_evaluate.routes,
    get_reward.routes,
    slime.routes,
    open_instruct.routes,
    verify.routes,
    piston.routes,
    judge0.routes,
    execute.routes,
    health.routes,
)
MODELS: Sequence[type[BaseModel]] = (
    run_code.RunCode,
    evaluation.Evaluate,
    prompts.GetPrompts,
    prompts.GetPromptById,
    get_reward.GetReward,
    slime.Slime,
    open_instruct.TestedProgram,
    verify.Rollout,
    verify.Rollouts,
    verify.Session,
    piston.PistonJob,
    judge0_wire.Judge0Submission,
    judge0.Judge0Batch,
    execute.Execution,
)
"""Models of request bodies, for the OpenAPI document."""
