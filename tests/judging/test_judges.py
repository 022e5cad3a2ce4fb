"""How judges are called: which of them get by with the folder of their files."""

from __future__ import annotations

import time

import pytest

from sandbox_service.judging import judges
from sandbox_service.judging.judges import Report, stays_inside
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import JudgeProgram, Limits, Verdict


def program(source: str, protocol: str = "kattis", **files: str) -> JudgeProgram:
    fields = {"files": {"main.cpp": source, **files}, "main": "main.cpp", "language": "cpp", "protocol": protocol}
    return JudgeProgram.model_validate({"type": "program", **fields})


@pytest.mark.parametrize(
    ("source", "is_inside"),
    [
        ("int main(int c, char **v) { std::ifstream in(v[1]); }", True),
        ('int main(int c, char **v) { FILE *in = fopen(v[1], "r"); }', True),
        ('int main() { std::ifstream in("/dev/stdin"); }', False),
        ('int main() { open("/proc/self/fd/0", O_RDONLY); }', False),
        ('int main() { FILE *log = fopen("log.txt", "w"); }', False),
        ('int main() { FILE *log = fopen("log.txt", "wb"); }', False),
        ('int main() { std::ofstream log("log.txt"); }', False),
        ('int main() { std::ofstream("log.txt") << 1; }', False),
        ('int main() { std::fstream log {"log.txt", std::ios::out}; }', False),
        ('int main(int c, char **v) { std::ofstream(v[3] + name) << 1; std::ifstream in("x"); }', True),
        ("#include <filesystem>\nint main() {}", False),
    ],
)
def test_what_needs_more_than_its_files_has_it(source: str, is_inside: bool) -> None:
    assert stays_inside(program(source)) == is_inside
    assert stays_inside(program('#include "x.h"', **{"x.h": source})) == is_inside


def test_files_with_fixed_names_are_where_they_were() -> None:
    assert not stays_inside(program("int main() {}", "scalebox"))


ECHO = "int main(int c, char **v) { std::cerr << output << std::endl; return output != answer; }"


@pytest.mark.parametrize(
    ("source", "header", "verdict"),
    [
        (ECHO, {}, Verdict.WA),
        (ECHO, {"testlib.h": "#define _pc(exitCode) (TResult(_partially + (exitCode)))"}, Verdict.WA),
        ("int main(int c, char **v) { quitf(_pc(1), output); }", {}, Verdict.AC),
        ('#include "own.h"\nint main(int c, char **v) { judge(); }', {"own.h": "quitp(_partially + 1)"}, Verdict.AC),
        ('int main(int c, char **v) { fprintf(stderr, "partially correct (1)"); return 1; }', {}, Verdict.AC),
    ],
)
def test_a_judge_that_repeats_an_output_awards_no_part(source: str, header: dict[str, str], verdict: Verdict) -> None:
    """The output says what testlib says for `_pc(1)`, with which it exits as it does for a wrong answer."""
    outcome = Outcome(1, None, False, 0.1, 0.1, 0.0, 1 << 20, b"", b"partially correct (1)\n", 0)
    found = judges.judgement(program(source, "testlib", **header), Limits(), Report(outcome, {}))
    assert found.verdict == verdict, found


def test_a_long_number_of_a_judge_is_read_in_linear_time() -> None:
    begin = time.process_time()
    assert judges._NUMBER.fullmatch("0" * (64 << 10) + "x") is None
    assert judges._NUMBER.fullmatch("-12.50e-3") is not None
    assert time.process_time() - begin < 1.0
