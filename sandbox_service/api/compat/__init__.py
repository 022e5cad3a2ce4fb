"""The shapes that trainers speak already, a module each: whoever uses one of them need only change a URL.

Unknown fields are ignored, for that is what their own services do. Their clients know nothing of our queue, and most
make an error a reward of 0; so what cannot be taken now is held, and our faults are tried again before anybody hears
of them (`desk`). What is left of a fault is translated into the best that each client understands.
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
    piston,
    run_code,
    slime,
    submit,
    test_program,
    verify,
)
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings

ROUTES: Sequence[Callable[[JobQueue, Settings], APIRouter]] = (
    run_code.routes,
    submit.routes,
    common_evaluate.routes,
    get_reward.routes,
    slime.routes,
    test_program.routes,
    verify.routes,
    piston.routes,
    judge0.routes,
    execute.routes,
    health.routes,
)
MODELS: Sequence[type[BaseModel]] = (
    run_code.RunCode,
    evaluation.Evaluate,
    get_reward.GetReward,
    slime.Slime,
    test_program.TestedProgram,
    verify.Rollout,
    verify.Rollouts,
    verify.Session,
    piston.PistonJob,
    judge0_wire.Judge0Submission,
    judge0.Judge0Batch,
    execute.Execution,
)
"""Request bodies, for the OpenAPI document."""
