"""A connection whose client has gone."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from sandbox_service.api.connections import _Transport


class Closing(asyncio.Transport):
    """A transport like uvloop's: it refuses writes once its handle is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        if self.closed:
            raise RuntimeError("the handler is closed")
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closed


def test_nothing_is_written_to_a_client_that_has_gone() -> None:
    theirs = Closing()
    ours = _Transport(theirs)
    ours.write(b"a")
    theirs.closed = True
    with pytest.raises(RuntimeError):
        theirs.write(b"b")
    ours.write(b"b")
    assert theirs.written == [b"a"]
    assert cast(asyncio.Transport, ours).is_closing()
