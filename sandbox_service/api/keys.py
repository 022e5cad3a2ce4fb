"""Who may ask: API keys, compared in constant time, and a bound on how often one address may guess.

A key comes as a bearer's; as the password in a URL (`http://any:KEY@host`), which is all that many trainers can be
told; or as Judge0's clients send it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections import OrderedDict, deque
from collections.abc import Iterable

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from sandbox_service.errors import TooManyGuesses

GUESSES = 10
GUESS_SECONDS = 60.0
ADDRESSES = 10_000


class Keys:
    """A dependency of every route that wants a key; `key_of` then names the one that came."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = [(key.encode(), hashlib.sha256(key.encode()).hexdigest()[:12]) for key in keys]
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, request: Request) -> None:
        """Raises HTTPException 401 without a right key, TooManyGuesses after too many wrong ones from one address."""
        address = request.client.host if request.client else ""
        given = _given(request.headers)
        # every key is compared, so that the time taken says nothing about which is near
        names = [name for key, name in self._keys if hmac.compare_digest(given, key)]
        if names:
            request.state.key = names[0]
            return
        self._count_wrong(address)
        raise HTTPException(401, "send Authorization: Bearer KEY with one of the service's keys")

    def _count_wrong(self, address: str) -> None:
        now = time.monotonic()
        wrong = self._wrong.setdefault(address, deque(maxlen=GUESSES))
        self._wrong.move_to_end(address)
        if len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)
        if len(wrong) == GUESSES and now - wrong[0] < GUESS_SECONDS:
            raise TooManyGuesses("too many wrong keys from this address", GUESS_SECONDS - (now - wrong[0]))
        wrong.append(now)


def _given(headers: Headers) -> bytes:
    """The key that came, whether it is right or not."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        return _password(value)
    return value.encode() if scheme.lower() == "bearer" else headers.get("x-auth-token", "").encode()


def _password(credentials: str) -> bytes:
    try:
        return base64.b64decode(credentials, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def key_of(request: Request) -> str:
    """A name for the key that a request came with; empty where no keys are asked for."""
    return str(getattr(request.state, "key", ""))
