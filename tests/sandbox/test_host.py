"""The host's part in C: the files of a run, what passes between two boxes, and files in huge pages."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.sandbox import _host, files, huge_page

EVERYTHING = 1 << 40
WAIT_MS = 20


def expected(pieces: list[tuple[int, bytes]], most: int) -> bytes:
    """The transcript of a conversation, as docs/judges.md describes it."""
    text, last = b"", -1
    for flow, data in pieces:
        room = most - len(text)
        if room <= 0 or not data:
            continue
        begins_line = text == b"" or text.endswith(b"\n")
        if flow != last and not begins_line:
            text, begins_line = text + b"\n", True
        last = flow
        for at, line in enumerate(data[:room].splitlines(keepends=True)):
            text += (b"> ", b"< ")[flow] + line if begins_line or at else line
    return text


PIECES = st.lists(st.tuples(st.integers(0, 1), st.text("ab\n\r\x85", max_size=12).map(str.encode)), max_size=12)


@given(PIECES, st.integers(-3, 60))
def test_a_transcript_marks_each_line(pieces: list[tuple[int, bytes]], most: int) -> None:
    text, last = b"", -1
    for flow, data in pieces:
        more, last = _host.quote(flow, data, (most - len(text), last, text == b"" or text.endswith(b"\n")))
        text += more
    assert text == expected(pieces, most)


class Pair:
    """Two sides that only exist as pipes. `hosts` are the host's ends, as `pass_on` takes them."""

    def __init__(self) -> None:
        pipes = [os.pipe() for _ in range(4)]
        (self.answers_out, self.program), (self.judge_in, self.answers_in), *rest = pipes
        (self.questions_out, self.judge), (self.program_in, self.questions_in) = rest
        self.ends = [fd for pipe in pipes for fd in pipe]
        for fd in (self.answers_out, self.answers_in, self.questions_out, self.questions_in):
            os.set_blocking(fd, False)
        self.news, self.told = socket.socketpair()

    def pass_on(self, most: int = EVERYTHING, room: int = 100) -> tuple[int, int, int, float, bytes, int, int, bytes]:
        answers, questions = (self.answers_out, self.answers_in, most), (self.questions_out, self.questions_in, most)
        news = self.news.fileno()
        return _host.pass_on(answers, questions, (news, news), WAIT_MS, (room, -1, True))

    def close(self, fd: int) -> None:
        self.ends.remove(fd)
        os.close(fd)


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    for fd in made.ends:
        os.close(fd)
    made.news.close()
    made.told.close()


def test_silence_is_no_news(pair: Pair) -> None:
    assert pair.pass_on() == (0, 0, 0, 0.0, b"", -1, -1, b"")


def test_both_flows_are_passed_on(pair: Pair) -> None:
    os.write(pair.program, b"1\n2")
    os.write(pair.judge, b"3\n")
    is_news, answered, asked, moved, text, last, stuck, left = pair.pass_on()
    assert (is_news, answered, asked, text, last, stuck, left) == (0, 3, 2, b"> 1\n> 2\n< 3\n", 1, -1, b"")
    assert moved > 0
    assert (os.read(pair.judge_in, 9), os.read(pair.program_in, 9)) == (b"1\n2", b"3\n")


ENDINGS: dict[str, Callable[[Pair], object]] = {
    "the program's output ends": lambda pair: pair.close(pair.program),
    "the judge's output ends": lambda pair: pair.close(pair.judge),
    "a box has ended": lambda pair: pair.told.send(b"D"),
    "a zygote has ended": lambda pair: pair.told.close(),
}


@pytest.mark.parametrize("happens", ENDINGS.values(), ids=ENDINGS)
def test_an_end_is_news_and_is_not_decided(pair: Pair, happens: Callable[[Pair], object]) -> None:
    happens(pair)
    assert pair.pass_on() == (1, 0, 0, 0.0, b"", -1, -1, b"")


def test_what_is_too_much_is_not_passed_on(pair: Pair) -> None:
    os.write(pair.program, b"12345")
    assert pair.pass_on(most=5)[:2] == (0, 5)
    assert os.read(pair.judge_in, 9) == b"12345"
    os.write(pair.program, b"123456")
    assert pair.pass_on(most=5)[:2] == (1, 6)
    os.set_blocking(pair.judge_in, False)
    with pytest.raises(BlockingIOError):
        os.read(pair.judge_in, 9)


def test_a_full_pipe_gives_back_the_rest(pair: Pair) -> None:
    fcntl.fcntl(pair.judge_in, fcntl.F_SETPIPE_SZ, 4096)
    os.write(pair.program, b"x" * 5000)
    is_news, answered, _, _, _, _, stuck, left = pair.pass_on(room=0)
    assert (is_news, answered, stuck, len(left)) == (1, 5000, 0, 5000 - len(os.read(pair.judge_in, 1 << 16)))


def test_a_side_that_reads_no_more_gives_back_everything(pair: Pair) -> None:
    pair.close(pair.program_in)
    os.write(pair.judge, b"abc")
    assert pair.pass_on()[6:] == (1, b"abc")


def test_a_run_has_files_of_its_own() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        out, err = _host.begin(ours.fileno(), b"job", (0,), b"input", [1, 2], 1)
        message, (_, stdin, stdout, stderr, _, _), _, _ = socket.recv_fds(theirs, 100, 9)
        assert (message, os.pread(stdin, 9, 0)) == (b"job", b"input")
        os.write(stdout, b"answer")
        os.lseek(stdout, 99, os.SEEK_SET)
        os.write(stderr, b"words")
        assert _host.finish(out, err, 3, 9) == (6, b"ans", b"words")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(out)


def test_nothing_is_left_of_a_run_that_cannot_be_sent() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    before = sorted(Path("/proc/self/fd").iterdir())
    with ours:
        with pytest.raises(BrokenPipeError):
            _host.begin(ours.fileno(), b"job", (), b"input", (), 2)
        with pytest.raises(ValueError, match="too many"):
            _host.begin(ours.fileno(), b"job", [0] * 254, b"input", (), 2)
        with pytest.raises(BrokenPipeError):
            _host.begin_shared(ours.fileno(), b"job", (), b"input", (), 1.0)
        with pytest.raises(ValueError, match="too many"):
            _host.begin_shared(ours.fileno(), b"job", [0] * 254, b"input", (), 1.0)
        assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_the_tests_of_a_shared_box_are_exchanged_by_its_files_and_a_channel() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        channel, *fds = _host.begin_shared(ours.fileno(), b"job", (0,), b"first input", [1], 0.05)
        message, (*_, stdin, stdout, stderr, _, box), _, _ = socket.recv_fds(theirs, 100, 9)
        assert message == b"job"

        def exchange(content: bytes | None) -> bool | None:
            return _host.exchange(channel, (fds[0], fds[1], fds[2]), False, content, b"N", b"D")

        with socket.socket(fileno=box) as end:
            assert exchange(None) is None, "the box is silent"
            assert os.read(stdin, 99) == b"first input"
            os.write(stdout, b"answer")
            os.write(stderr, b"words")
            end.send(b"D")
            assert exchange(None)
            assert _host.read_output(fds[1], fds[2], 9, 9, False) == (6, b"answer", b"words")
            end.send(b"D")
            assert exchange(b"next")
            assert (end.recv(9), os.read(stdin, 99)) == (b"N", b"next")
            assert os.read(stdout, 99) == os.read(stderr, 99) == b""
            for other in (b"DD", b"E", b"D" * 99):
                end.send(other)
                assert exchange(None) is False
        assert exchange(None) is exchange(b"next") is False, "the box has ended"
        for fd in (channel, *fds, stdin, stdout, stderr):
            os.close(fd)


class Answers(threading.Thread):
    """A box that prints an answer for each input, says so, and ends after the last one."""

    def __init__(
        self, box: int, files: list[int], answers: dict[bytes, tuple[bytes, bytes]], claim: bytes | None = b"D"
    ) -> None:
        super().__init__()
        self._end, self._files, self._answers, self._claim = socket.socket(fileno=box), files, answers, claim
        self.start()

    def run(self) -> None:
        stdin, stdout, stderr = self._files
        with self._end as end:
            while end.recv(9):
                out, err = self._answers[os.read(stdin, 1 << 20)]
                os.write(stdout, out)
                os.write(stderr, err)
                if self._claim is not None:
                    end.send(self._claim)


def test_an_output_that_is_written_over_another_ends_at_the_offset() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        channel, *fds = _host.begin_shared(ours.fileno(), b"job", (), b"", (), 9.0)
        *box_files, box = socket.recv_fds(theirs, 100, 9)[1]
    answering = Answers(
        box, box_files, {b"one": (b"a long answer", b"words"), b"two": (b"short", b""), b"three": (b"", b"")}
    )
    try:
        for content, said in (
            (b"one", (13, b"a long an", b"words")),
            (b"two", (5, b"short", b"")),
            (b"three", (0, b"", b"")),
        ):
            assert _host.exchange(channel, (fds[0], fds[1], fds[2]), True, content, b"N", b"D")
            assert _host.read_output(fds[1], fds[2], 9, 9, True) == said
        assert _host.read_output(fds[1], fds[2], 99, 9, False) == (13, b"shortg answer", b"")
    finally:
        os.close(channel)
        answering.join()
        for fd in (*fds, *box_files):
            os.close(fd)


def run_equal(
    tests: list[tuple[str, str]],
    answers: dict[bytes, tuple[bytes, bytes]],
    seconds: float = 9.0,
    claim: bytes | None = b"D",
    first: int = 0,
    *,
    to_offset: bool = False,
) -> tuple[int, int]:
    """Run tests in a box that gives these answers; return how many ended well, and what the box said at last."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        channel, *fds = _host.begin_shared(ours.fileno(), b"job", (), b"", (), 0.2)
        *box_files, box = socket.recv_fds(theirs, 100, 9)[1]
    answering = Answers(box, box_files, answers, claim)
    try:
        given = (
            channel,
            (fds[0], fds[1], fds[2]),
            to_offset,
            tests,
            first,
            b"N",
            b"D",
            time.CLOCK_PROCESS_CPUTIME_ID,
            0.0,
        )
        times, said, began = _host.run_equal(*given, seconds)
        assert all(cpu >= 0 and 0 < wall < 9 for cpu, wall in times)
        assert began <= time.monotonic()
        return len(times), said
    finally:
        os.close(channel)
        answering.join()
        for fd in (*fds, *box_files):
            os.close(fd)


LONG = "é" * 100_000
PAIRS = [("1", "one\n"), ("two", LONG), ("", "")]
EQUAL = {given.encode(): (wanted.encode(), b"") for given, wanted in PAIRS}


def test_tests_run_as_long_as_each_prints_what_is_expected() -> None:
    assert run_equal(PAIRS, EQUAL) == run_equal(PAIRS, EQUAL, to_offset=True) == (3, _host.NONE_RUNS)
    assert run_equal(PAIRS, EQUAL, first=1) == (2, _host.NONE_RUNS)
    assert run_equal(PAIRS, EQUAL, first=3) == run_equal(PAIRS, EQUAL, seconds=0.0) == (0, _host.NONE_RUNS)
    assert run_equal(PAIRS, EQUAL, seconds=1e-9) == (1, _host.NONE_RUNS), "the time is over"


@pytest.mark.parametrize(
    "printed",
    [(b"", b""), (LONG.encode() + b"\n", b""), (LONG.encode()[:-1], b""), (b"x" * 200_000, b""), (LONG.encode(), b"!")],
)
def test_another_output_is_left_to_be_judged(printed: tuple[bytes, bytes]) -> None:
    for to_offset in (False, True):
        assert run_equal(PAIRS, EQUAL | {b"two": printed}, to_offset=to_offset) == (2, _host.CLAIMS)


def test_a_box_that_claims_nothing_passes_nothing() -> None:
    assert run_equal(PAIRS, EQUAL, claim=b"E") == (0, _host.REFUSES)
    assert run_equal(PAIRS, EQUAL, claim=None) == (0, _host.SILENT)


def test_what_is_no_list_of_tests_is_refused() -> None:
    with pytest.raises(TypeError):
        run_equal([("1", 1)], EQUAL)  # type: ignore[list-item]
    with pytest.raises(UnicodeEncodeError):
        run_equal([("\ud800", "one")], EQUAL)


@pytest.mark.parametrize("size", [0, 1000, huge_page.LEAST_BYTES, 1_500_000, huge_page.HUGE_BYTES + 1])
def test_a_program_is_sealed_and_whole(size: int) -> None:
    content = os.urandom(size)
    fd = huge_page.create(content)
    try:
        assert os.pread(fd, size + 1, 0) == content
        assert fcntl.fcntl(fd, files.F_GET_SEALS) == files.SEAL_ALL
    finally:
        os.close(fd)


def test_a_kernel_without_huge_pages_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_page, "MADV_COLLAPSE", 12345)
    content = os.urandom(1_000_000)
    fd = huge_page.create(content)
    try:
        assert os.pread(fd, 1 << 21, 0) == content
    finally:
        os.close(fd)
