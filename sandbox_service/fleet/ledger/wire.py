"""Encodes arguments of the Lua functions, and decodes their replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import orjson

from sandbox_service.bounds import KINDS, over_all, over_share
from sandbox_service.errors import QueueFullError
from sandbox_service.fleet.ledger.entries import Claim, Entry, Terms, UnknownWorkerError
from sandbox_service.fleet.ledger.lua import Argument
from sandbox_service.queues.base import id_of, reused

MICROSECONDS = 1_000_000  # costs are counted in whole microseconds, so that sums do not drift
MOST_RETRY_SECONDS = 60.0

NO_TERMS = Terms("", "", 1, 0.0, 0)


def microseconds(seconds: float) -> int:
    """Return a cost in seconds as it is counted: in whole microseconds."""
    return max(0, round(seconds * MICROSECONDS))


def sums(entries: Iterable[Entry]) -> Iterator[Argument]:
    """Yield the number of clients, then for each its name and the count, bytes and microseconds of its entries."""
    of_clients: dict[str, list[int]] = {}
    for entry in entries:
        figures = of_clients.setdefault(entry.terms.client, [0, 0, 0])
        figures[0] += 1
        figures[1] += len(entry.body) + entry.own_bytes
        figures[2] += microseconds(entry.terms.cost)
    yield len(of_clients)
    for client, figures in of_clients.items():
        yield client
        yield from figures


def packed(entries: Sequence[Entry]) -> Iterator[Argument]:
    """Yield the arguments of submit.lua: the terms, each once, then the entries."""
    kinds: dict[Terms, int] = {}
    of_entries = [kinds.setdefault(entry.terms, len(kinds) + 1) for entry in entries]
    yield len(kinds)
    for kind in kinds:
        yield _about(kind)
        yield int(kind.keep)
    for number, (id_, digest, body, _, own_bytes) in zip(of_entries, entries, strict=True):
        yield from (number, id_, digest, body, len(body) + own_bytes)


def _about(terms: Terms) -> bytes:
    """Return terms as prelude.lua reads them."""
    suite, client, priority, cost, tests, graders, labels, _ = terms
    return orjson.dumps((suite, client, priority, microseconds(cost), tests, graders, dict(labels)))


@lru_cache(maxsize=1024)
def _terms(about: bytes) -> Terms:
    """Return the terms that `_about` encoded. Raises ValueError for anything else."""
    try:
        suite, client, priority, cost, tests, graders, labels = orjson.loads(about)
        return Terms(suite, client, priority, cost / MICROSECONDS, tests, graders, tuple(labels.items()))
    except (TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None


def terms(about: object) -> Terms:
    """Return the terms of a pending submission from its field `about`; `NO_TERMS` if they are missing or damaged."""
    try:
        return _terms(about) if isinstance(about, bytes) else NO_TERMS
    except ValueError:
        return NO_TERMS


def check_taken(reply: list[Any], part: Sequence[Entry]) -> None:
    """Raise IdReusedError or QueueFullError if the reply of submit.lua has refused the entries."""
    if reply[0] == b"reused":
        entry = part[reply[1]]
        raise reused(id_of(entry.id, entry.terms.client))
    if reply[0] == b"full":
        raise _full(reply)


def _full(reply: list[Any]) -> QueueFullError:
    kind, clients = KINDS[reply[1]], reply[5]
    used, new, most = (_amount(kind, each) for each in reply[2:5])
    reason = over_share(kind, used, new, most, clients) if clients else over_all(kind, used, most)
    return QueueFullError(reason, min(MOST_RETRY_SECONDS, max(1.0, float(reply[6]))))


def _amount(kind: str, counted: int) -> float:
    return counted / MICROSECONDS if kind == "cpu_seconds" else counted


def check_known(reply: list[Any], worker: str) -> None:
    """Raise UnknownWorkerError if the worker of this reply is not registered."""
    if reply[0] == b"unknown":
        raise UnknownWorkerError(f"no worker {worker!r} is registered")


def claim(row: tuple[bytes, ...], now: float, *, begun: bool) -> Claim:
    """Return a claim from a row of exchange.lua's reply.

    Args:
        row: id, body, terms, digest, attempts, and when it was submitted.
        now: when it was claimed, by the clock of Redis.
        begun: the ledger has noted its start.

    Raises:
        ValueError: the row is damaged.
    """
    id_, body, about, _, attempts, taken = row
    alone = int(attempts) > 0
    return Claim(id_.decode(), body, _terms(about), int(attempts), float(taken), now, alone=alone, begun=begun)


def entries_of_stream(found: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Return the entries of the one stream found: from a list of pairs, or, in RESP3, a dict of lists."""
    if not found:
        return []
    entries: Any = next(iter(found.values())) if isinstance(found, dict) else found[0][1]
    return entries[0] if isinstance(found, dict) else entries  # type: ignore[no-any-return]
