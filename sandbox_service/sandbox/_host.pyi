"""Types of the functions of `_host.c`, whose docstrings describe them."""

from collections.abc import Sequence

REFUSES: int
CLAIMS: int
SILENT: int
NONE_RUNS: int

def begin(
    control: int, message: bytes, before: Sequence[int], stdin: bytes, after: Sequence[int], boxes: int, /
) -> tuple[int, ...]: ...
def finish(stdout: int, stderr: int, most_stdout: int, most_stderr: int, /) -> tuple[int, bytes, bytes]: ...
def read_output(
    stdout: int, stderr: int, most_stdout: int, most_stderr: int, to_offset: bool, /
) -> tuple[int, bytes, bytes]: ...
def begin_shared(
    control: int, message: bytes, before: Sequence[int], stdin: bytes, after: Sequence[int], silence: float, /
) -> tuple[int, int, int, int]: ...
def exchange(
    channel: int, files: tuple[int, int, int], to_offset: bool, content: bytes | None, give: bytes, claim: bytes, /
) -> bool | None: ...
def run_equal(
    channel: int,
    files: tuple[int, int, int],
    to_offset: bool,
    tests: list[tuple[str, str]],
    first: int,
    give: bytes,
    claim: bytes,
    clock: int,
    used: float,
    seconds: float,
    /,
) -> tuple[list[tuple[float, float]], int, float]: ...
def quote(flow: int, content: bytes, state: tuple[int, int, bool], /) -> tuple[bytes, int]: ...
def pass_on(
    answers: tuple[int, int, int],
    questions: tuple[int, int, int],
    news: tuple[int, int],
    milliseconds: int,
    state: tuple[int, int, bool],
    /,
) -> tuple[int, int, int, float, bytes, int, int, bytes]: ...
def cpuid(leaf: int, subleaf: int, /) -> tuple[int, int, int, int] | None: ...
