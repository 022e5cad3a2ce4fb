"""The format of answers in Redis."""

from __future__ import annotations

import os

import pytest
from zstandard import frame_content_size

from sandbox_service.fleet.ledger.packing import PREFIX, AnswerCodec

DIGEST = b"d" * 16
SINGLE_SEGMENT_OF_EIGHT_BYTES = bytes.fromhex("28b52ffde0")  # RFC 8878, 3.1.1: what follows is the size


@pytest.mark.parametrize("answer", [b"", b"answer", b'{"tests":[]}' * 1000, os.urandom(100_000)])
@pytest.mark.parametrize("fault", [False, True])
def test_what_was_packed_is_unpacked(answer: bytes, fault: bool) -> None:
    stored = AnswerCodec().pack(answer, fault, DIGEST)
    assert stored[:PREFIX] == (b"F" if fault else b"G") + DIGEST
    assert AnswerCodec().unpack(stored) == answer


def test_what_was_cut_off_or_goes_on_is_nothing() -> None:
    stored = AnswerCodec().pack(b"answer", False, DIGEST)
    assert [length for length in range(len(stored)) if AnswerCodec().unpack(stored[:length])] == []
    assert AnswerCodec().unpack(stored + b"x") == b""


def test_a_few_bytes_that_say_they_hold_a_million_million_are_not_believed() -> None:
    frame = SINGLE_SEGMENT_OF_EIGHT_BYTES + (1 << 40).to_bytes(8, "little")
    assert frame_content_size(frame) == 1 << 40
    assert AnswerCodec().unpack(b"G" + DIGEST + frame) == b""
