"""Shared by all adapters: makes submissions from answers and ground truths, and calls the service."""

from __future__ import annotations

import asyncio
import functools
import os
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_service.client import AsyncClient, Client, Grade, GraderFaultError
from sandbox_service.errors import ConfigurationError
from sandbox_service.formats import ground_truth
from sandbox_service.schema import FailureKind

URL_VARIABLE = "PROCTOR_URL"
PATIENCE_SECONDS = 600.0  # with a service that is unavailable
FAULT_RETRY_SECONDS = 60.0  # with a service that returns faults
LONGEST_PAUSE_SECONDS = 10.0
PERMANENT_FAULTS = frozenset(
    {FailureKind.BAD_TEST, FailureKind.BAD_CHECKER, FailureKind.CANCELLED}
)  # kinds of fault that a retry does not fix


def submission(completion: Any, truth: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a submission.

    Args:
        completion: The model's answer, text or messages.
        truth: The ground truth.
        options: Further fields; those in the ground truth take precedence.

    Raises:
        ValueError: The ground truth is invalid.
    """
    return {**plain(options), **ground_truth.read(plain(truth)), "completion": text_of(completion)}


def submissions(completions: Sequence[Any], truth: Sequence[Any], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a submission per answer. Consecutive identical ground truths are read once.

    Args:
        completions: The model's answers.
        truth: A ground truth per answer.
        options: Further fields; those in a ground truth take precedence.

    Raises:
        ValueError: A ground truth is invalid, or the lengths differ.
    """
    if len(completions) != len(truth):
        raise ValueError(f"{len(completions)} answers and {len(truth)} ground truths: the numbers should be equal")
    found: list[dict[str, Any]] = []
    for index, (completion, right) in enumerate(zip(completions, truth, strict=True)):
        if index and right is truth[index - 1]:
            found.append(found[-1] | {"completion": text_of(completion)})
        else:
            found.append(submission(completion, right, options))
    return found


def text_of(completion: Any) -> str:
    """Return a completion as text; that of a conversation is its last message."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence):
        return text_of(completion[-1]) if completion else ""
    content = completion.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content)


def plain(value: Any) -> Any:
    """Return the value with the containers of other libraries replaced by dicts and lists."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    return value


# --- clients


def client(url: str | None = None, patience_seconds: float = PATIENCE_SECONDS) -> Client:
    """Return the process's client.

    Args:
        url: The service's address; None for the configured one, as in `address`.
        patience_seconds: How long the client retries while the service is away.
    """
    return _client(address(url), patience_seconds)


@functools.cache
def _client(url: str, patience_seconds: float) -> Client:
    return Client(url, patience_seconds=patience_seconds)


def async_client(url: str | None = None, patience_seconds: float = PATIENCE_SECONDS) -> AsyncClient:
    """Return the event loop's client.

    Args:
        url: The service's address; None for the configured one, as in `address`.
        patience_seconds: How long the client retries while the service is away.
    """
    ours = _ASYNC_CLIENTS.setdefault(asyncio.get_running_loop(), {})
    key = (address(url), patience_seconds)
    if key not in ours:
        ours[key] = AsyncClient(key[0], patience_seconds=patience_seconds)
    return ours[key]


_ASYNC_CLIENTS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, float], AsyncClient]] = (
    weakref.WeakKeyDictionary()
)


def address(url: str | None) -> str:
    """Return the service's URL: the given one or the configured one. Raise ConfigurationError if there is none."""
    found = url or os.environ.get(URL_VARIABLE)
    if not found:
        raise ConfigurationError(f"the reward service's address is missing: give its url, or set {URL_VARIABLE}")
    return found


# --- retries, for trainers that cannot mask a sample


def grade_with_retries(client: Client, fields: Mapping[str, Any], seconds: float = FAULT_RETRY_SECONDS) -> Grade:
    """Return a grade that has a reward, retrying faults of the service.

    Args:
        client: The client.
        fields: The fields of the submission.
        seconds: The time for retries.

    Raises:
        GraderFaultError: There is still no verdict, or a retry would not help.
    """
    pauses = _pauses(seconds)
    while True:
        try:
            return client.grade(on_fault="raise", **fields)
        except GraderFaultError as fault:
            time.sleep(_pause_after(fault, pauses))


async def grade_with_retries_async(
    client: AsyncClient, fields: Mapping[str, Any], seconds: float = FAULT_RETRY_SECONDS
) -> Grade:
    """Return a grade that has a reward; see `grade_with_retries`."""
    pauses = _pauses(seconds)
    while True:
        try:
            return await client.grade(on_fault="raise", **fields)
        except GraderFaultError as fault:
            await asyncio.sleep(_pause_after(fault, pauses))


def _pause_after(fault: GraderFaultError, pauses: Iterator[float]) -> float:
    """Return the seconds before the next try. Raise the fault if there is none."""
    pause = None if fault.kind in PERMANENT_FAULTS else next(pauses, None)
    if pause is None:
        raise fault
    return pause


def _pauses(seconds: float) -> Iterator[float]:
    """Yield growing pauses until the time is over."""
    end, pause = time.monotonic() + seconds, 1.0
    while time.monotonic() + pause < end:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
