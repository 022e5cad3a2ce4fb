"""Asks a model that is not trained here for text: a duel's opponent, or an evaluated model.

The server is vLLM or any other with OpenAI's API. Temporary failures are retried. `vllm_api` is the client of the
run's own vLLM, whose samples have token ids, log-probabilities and a version.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_service.client.retries import pauses
from sandbox_service.client.transport import Answer, HttpTransport, describe_error
from trainer.errors import TrainerError
from trainer.reward import trainer_errors

TRIES = 8  # of a server that fails, as vLLM does until its own run starts it again; together about 30 s
# Set in each request: a server's defaults come from the model's `generation_config.json`, and those of some models
# truncate the distribution (top_k 20, a repetition penalty).
UNMODIFIED_SAMPLING: Mapping[str, Any] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
ENDS = {"stop": "stop", "length": "length", "content_filter": "stop", "tool_calls": "stop"}


async def sample(server: HttpTransport, path: str, request: Mapping[str, Any]) -> Answer:
    """Return the answer to a request for one sample, whose finish reason is "stop" or "length"; see `post`."""
    return await post(server, path, request, _flaw)


async def post(
    server: HttpTransport, path: str, request: Mapping[str, Any], flaw: Callable[[Answer], str] = lambda _: ""
) -> Answer:
    """Return the server's answer to a request to a path; `flaw` says why one does not count. Raise TrainerError."""
    body = json.dumps(request).encode()
    for pause in pauses(TRIES):
        with trainer_errors():
            status, answer = await server.ask("POST", path, body)
            if status != 200 and status < 500:
                raise server.refusal(status, answer, path)
        wrong = flaw(answer) if status == 200 else describe_error(status, answer)
        if not wrong:
            return answer
        await asyncio.sleep(pause)
    raise TrainerError(f"the {server.peer.name} at {server.url} returns no sample: {path}: {wrong}")


def _flaw(answer: Answer) -> str:
    """Return why there is no sample in an answer, empty if there is one."""
    try:
        choice = answer["choices"][0]
        choice["finish_reason"] = ENDS[choice["finish_reason"]]
    except (KeyError, IndexError, TypeError):
        return f"an answer without a sample that ended normally: {json.dumps(answer)[:200]}"
    return ""
