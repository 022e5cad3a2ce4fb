"""What all adapters do: an answer and what is right about it become a submission, and the service is asked."""

from __future__ import annotations

import asyncio
import functools
import os
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_service import truths
from sandbox_service.client import AsyncClient, Client, Fault, Grade
from sandbox_service.errors import ConfigurationError

URL_VARIABLE = "PROCTOR_URL"
PATIENCE_SECONDS = 600.0  # with a service that is away
INSISTENCE_SECONDS = 60.0  # with one that has faults
LONGEST_PAUSE_SECONDS = 10.0
HOPELESS = frozenset({"bad_test", "cancelled"})  # kinds of fault that another try would not change


def submission(completion: Any, truth: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """A submission's fields. Raises ValueError for a truth that is not understood."""
    return {**plain(options), **truths.read(plain(truth)), "completion": text_of(completion)}


def submissions(completions: Sequence[Any], truth: Sequence[Any], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As `submission`, for as many answers as truths; of those in a row that are the same one is read."""
    if len(completions) != len(truth):
        raise ValueError(f"{len(completions)} answers and {len(truth)} ground truths: there should be as many of each")
    found: list[dict[str, Any]] = []
    for index, (completion, right) in enumerate(zip(completions, truth, strict=True)):
        if index and right is truth[index - 1]:
            found.append(found[-1] | {"completion": text_of(completion)})
        else:
            found.append(submission(completion, right, options))
    return found


def text_of(completion: Any) -> str:
    """A model's answer: text as it is; of a conversation, what its last message says."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence):
        return text_of(completion[-1]) if completion else ""
    content = completion.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content)


def plain(value: Any) -> Any:
    """Without the containers of other libraries: configurations are dicts, arrays are lists."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    return value


# --- who is asked


def client(url: str | None = None, patience_seconds: float = PATIENCE_SECONDS) -> Client:
    """One for each address in a process."""
    return _client(address(url), patience_seconds)


@functools.cache
def _client(url: str, patience_seconds: float) -> Client:
    return Client(url, patience_seconds=patience_seconds)


def async_client(url: str | None = None, patience_seconds: float = PATIENCE_SECONDS) -> AsyncClient:
    """One for each address in an event loop."""
    ours = _ASYNC_CLIENTS.setdefault(asyncio.get_running_loop(), {})
    key = (address(url), patience_seconds)
    if key not in ours:
        ours[key] = AsyncClient(key[0], patience_seconds=patience_seconds)
    return ours[key]


_ASYNC_CLIENTS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, float], AsyncClient]] = (
    weakref.WeakKeyDictionary()
)


def address(url: str | None) -> str:
    """Of the service. Raises ConfigurationError where nobody said it."""
    found = url or os.environ.get(URL_VARIABLE)
    if not found:
        raise ConfigurationError(f"where is the reward service? Give its url, or set {URL_VARIABLE}")
    return found


# --- for trainers that know no sample without a verdict


def insist(client: Client, fields: Mapping[str, Any], seconds: float = INSISTENCE_SECONDS) -> Grade:
    """A grade with a reward. A fault of the service is tried again for so long; then Fault is raised."""
    pauses = _pauses(seconds)
    while True:
        try:
            return client.grade(on_fault="raise", **fields)
        except Fault as fault:
            time.sleep(_pause_after(fault, pauses))


async def insist_async(client: AsyncClient, fields: Mapping[str, Any], seconds: float = INSISTENCE_SECONDS) -> Grade:
    """As `insist`."""
    pauses = _pauses(seconds)
    while True:
        try:
            return await client.grade(on_fault="raise", **fields)
        except Fault as fault:
            await asyncio.sleep(_pause_after(fault, pauses))


def _pause_after(fault: Fault, pauses: Iterator[float]) -> float:
    """Before another try. Raises the fault where there is none."""
    pause = None if fault.kind in HOPELESS else next(pauses, None)
    if pause is None:
        raise fault
    return pause


def _pauses(seconds: float) -> Iterator[float]:
    """Longer and longer, until the time is over."""
    end, pause = time.monotonic() + seconds, 1.0
    while time.monotonic() + pause < end:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
