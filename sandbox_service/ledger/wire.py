"""How the ledger's nouns go over to its scripts, and what these say comes back as nouns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import orjson

from sandbox_service.bounds import KINDS, over_all, over_share
from sandbox_service.errors import IdReused, QueueFull
from sandbox_service.ledger.entries import Claim, Entry, Need, Terms, Unknown
from sandbox_service.ledger.scripts import Argument

MICROSECONDS = 1_000_000  # costs are counted in whole microseconds, so that the books do not drift
MOST_RETRY_SECONDS = 60.0

NO_TERMS = Terms("", "", 1, 0.0, 0)


def microseconds(seconds: float) -> int:
    """As costs are counted."""
    return max(0, round(seconds * MICROSECONDS))


def sums(entries: Iterable[Entry]) -> Iterator[Argument]:
    """For each client the number, bytes and microseconds of its entries, after the number of clients."""
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
    """In the order that submit.lua reads: what they are about, each kind once, and then the entries."""
    kinds: dict[Terms, int] = {}
    of_entries = [kinds.setdefault(entry.terms, len(kinds) + 1) for entry in entries]
    yield len(kinds)
    for kind in kinds:
        yield _about(kind)
        yield int(kind.keep)
    for number, (id_, digest, body, _, own_bytes) in zip(of_entries, entries, strict=True):
        yield from (number, id_, digest, body, len(body) + own_bytes)


def _about(terms: Terms) -> bytes:
    """What many entries have in common, as prelude.lua reads it."""
    suite, client, priority, cost, tests, graders, labels, _ = terms
    return orjson.dumps((suite, client, priority, microseconds(cost), tests, graders, dict(labels)))


@lru_cache(maxsize=1024)
def _terms(about: bytes) -> Terms:
    """What `_about` was made of. Raises ValueError if that was nothing of ours."""
    try:
        suite, client, priority, cost, tests, graders, labels = orjson.loads(about)
        return Terms(suite, client, priority, cost / MICROSECONDS, tests, graders, tuple(labels.items()))
    except (TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None


def terms(about: object) -> Terms:
    """What a pending submission has in common with others; none, if it is not pending or not as we write it."""
    try:
        return _terms(about) if isinstance(about, bytes) else NO_TERMS
    except ValueError:
        return NO_TERMS


def check_taken(reply: list[Any], part: Sequence[Entry]) -> None:
    """Raises IdReused or QueueFull if submit.lua said so of these."""
    if reply[0] == b"reused":
        raise IdReused(f"id {part[reply[1]].id!r} was used with another body; use a new id")
    if reply[0] == b"full":
        raise _full(reply)


def _full(reply: list[Any]) -> QueueFull:
    kind, clients = KINDS[reply[1]], reply[5]
    used, new, most = (_amount(kind, each) for each in reply[2:5])
    reason = over_share(kind, used, new, most, clients) if clients else over_all(kind, used, most)
    return QueueFull(reason, min(MOST_RETRY_SECONDS, max(1.0, float(reply[6]))))


def _amount(kind: str, counted: int) -> float:
    return counted / MICROSECONDS if kind == "cpu_seconds" else counted


def need(reply: list[Any], worker: str) -> Need:
    """What a worker is told besides. Raises Unknown if there is no such."""
    if reply[0] == b"unknown":
        raise Unknown(f"no worker {worker!r} is registered")
    return Need(reply[1], reply[2], reply[3])


def claim(row: tuple[bytes, ...], now: float) -> Claim:
    """Of what claim.lua says of one. Raises ValueError if its id, its suite or its time is none."""
    id_, body, about, _, attempts, taken = row
    return Claim(id_.decode(), body, _terms(about), int(attempts), float(taken), now, alone=int(attempts) > 0)


def entries_of_stream(found: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """The entries of the one stream that was asked for: a list of pairs, or, in the newer protocol, a dict of lists."""
    if not found:
        return []
    entries: Any = next(iter(found.values())) if isinstance(found, dict) else found[0][1]
    return entries[0] if isinstance(found, dict) else entries  # type: ignore[no-any-return]
