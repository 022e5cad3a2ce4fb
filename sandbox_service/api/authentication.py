"""API keys: compared in constant time, with a limit on wrong keys from one address.

A key is accepted as a bearer token, as the password in a URL (`http://any:KEY@host`), which is all that many trainers
can be configured with, or in the header `X-Auth-Token` that Judge0's clients send. Keys of administrators see and
cancel the submissions of all keys, other keys their own.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from sandbox_service.bounds import api_keys
from sandbox_service.errors import TooManyGuessesError

GUESSES = 10
GUESS_SECONDS = 60.0
ADDRESSES = 10_000


class ApiKeyAuth:
    """FastAPI dependency of every route that requires a key. `key_name`, `owner` and `visible_keys` then know it.

    Args:
        keys: The keys.
        admins: Those of them, or further ones, that are administrators'.
    """

    def __init__(self, keys: Iterable[str], admins: Iterable[str] = ()) -> None:
        self._admins = frozenset(map(api_keys.key_name, admins))
        self._keys = [(key.encode(), api_keys.key_name(key)) for key in {*keys, *admins}]
        self._all = (*sorted(name for _, name in self._keys), "")  # submissions from before there were keys
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, request: Request) -> None:
        """Check the request's key.

        Raises:
            HTTPException: 401 if the key is missing or wrong.
            TooManyGuessesError: One address sent too many wrong keys.
        """
        address = request.client.host if request.client else ""
        given = _given(request.headers)
        # compare every key, so that the time taken reveals nothing about them
        names = [name for key, name in self._keys if hmac.compare_digest(given, key)]
        if names:
            request.state.key = names[0]
            request.state.is_admin = names[0] in self._admins
            request.state.all_keys = self._all if names[0] in self._admins else ()
            return
        self._count_wrong(address)
        raise HTTPException(401, "missing or wrong API key: send Authorization: Bearer KEY")

    def _count_wrong(self, address: str) -> None:
        now = time.monotonic()
        wrong = self._wrong.setdefault(address, deque(maxlen=GUESSES))
        self._wrong.move_to_end(address)
        if len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)
        if len(wrong) == GUESSES and now - wrong[0] < GUESS_SECONDS:
            raise TooManyGuessesError(
                "too many wrong API keys from this address; retry later", GUESS_SECONDS - (now - wrong[0])
            )
        wrong.append(now)


def _given(headers: Headers) -> bytes:
    """Return the key that the request carries, right or wrong."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        return _password(value)
    return value.encode() if scheme.lower() == "bearer" else headers.get("x-auth-token", "").encode()


def _password(credentials: str) -> bytes:
    try:
        return base64.b64decode(credentials, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def key_name(request: Request) -> str:
    """Return the name of the key that the request carried; empty where no keys are required."""
    return str(getattr(request.state, "key", ""))


def owner(request: Request) -> str | None:
    """Return the name of the key whose submissions the request may see; None if it may see all."""
    is_admin = getattr(request.state, "is_admin", False)
    return None if is_admin else key_name(request) or None


def visible_keys(request: Request) -> Sequence[str]:
    """Return the names of the keys whose submissions the request may find and cancel, its own first."""
    own = key_name(request)
    others: Sequence[str] = getattr(request.state, "all_keys", ())
    return (own, *(each for each in others if each != own))
