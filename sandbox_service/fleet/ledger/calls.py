"""The base class of the ledger's calls: the client of Redis, the functions, and the times for which things are kept."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Found
from sandbox_service.fleet.ledger.lua import Functions
from sandbox_service.fleet.ledger.packing import DIGEST, AnswerCodec
from sandbox_service.fleet.outage import Outage
from sandbox_service.grading.retries import MOST_ATTEMPTS

MOST_ENTRIES = 512  # for each call: Redis does nothing else meanwhile
MOST_STEPS = 256
MOST_WORKERS = 64  # that one call reads

_GONE, _PENDING = Found("gone"), Found("pending")
_T = TypeVar("_T")


@dataclass
class ClaimState:
    """The state of a worker's claims in this process: the last turn whose reply arrived, and the digests."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_turn: str = ""
    digests: dict[str, bytes] = field(default_factory=dict)


class LedgerCalls:
    """The base of the groups of calls; see `Ledger`."""

    def __init__(
        self,
        redis: Redis,
        name: str = "proctor",
        *,
        answer_seconds: int = 600,
        fault_seconds: int = 60,
        cache_seconds: int = 3600,
        suite_seconds: int = 3600,
        reply_seconds: int = 60,
        max_body: int = 64 << 20,
        most_attempts: int = MOST_ATTEMPTS,
        address: str = "",
    ) -> None:
        """Use the ledger of this name.

        Args:
            redis: a client that does not decode responses.
            name: prefix of all keys. Ledgers of different names are independent.
            answer_seconds: how long an answer can be asked for again.
            fault_seconds: the same, if it is a fault of the service.
            cache_seconds: how long an answer is shared with equal submissions; 0 for never.
            suite_seconds: how long a suite stays, at least, after its last use.
            reply_seconds: how long the answers for a silent API process are kept.
            max_body: bytes; a longer body is not given to workers.
            most_attempts: a submission that so many lost workers had started is not tried again.
            address: of Redis, for the log.
        """
        self.outage = Outage(address)
        self._redis = redis
        self._name = name
        self._functions = Functions(redis, name)
        self._packing = AnswerCodec()
        self._answer_seconds = answer_seconds
        self._fault_seconds = fault_seconds
        self._cache_seconds = cache_seconds
        self._suite_seconds = suite_seconds
        self._reply_seconds = reply_seconds
        self._max_body = max_body
        self._most_attempts = most_attempts
        self._claim_states: defaultdict[str, ClaimState] = defaultdict(ClaimState)
        self._turns = itertools.count()
        self._session = secrets.token_hex(8)
        self._memory = ""  # the id of Redis' data, as last seen

    def _found(self, row: bytes | int) -> Found:
        """Decode the reply of look.lua and join.lua for an id."""
        if isinstance(row, int):
            return _PENDING if row else _GONE
        flag = row[:1]
        digest = row[DIGEST] if flag in (b"G", b"C") else b""
        return Found("answered", self._packing.unpack(row), flag == b"F", flag == b"C", digest)


def parts(items: Sequence[_T], most: int) -> Iterator[Sequence[_T]]:
    """Split into parts of at most so many items."""
    for at in range(0, len(items), most):
        yield items[at : at + most]
