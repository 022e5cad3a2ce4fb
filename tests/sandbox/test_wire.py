"""Three files describe one wire: the host's, the guest's and the C loop's. Here they are held together."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.guest import wire as guests
from sandbox_service.sandbox import wire as hosts
from sandbox_service.schema import Limits, StdinTest, Submission
from sandbox_service.settings import Settings
from tests.conftest import need_firejail

GUEST = Path(guests.__file__).parent
C_SOURCE = "".join((GUEST / name).read_text() for name in ("box.h", "_box.c"))
CODES = {"char": "c", "uint8_t": "B", "int32_t": "i", "uint32_t": "I", "uint64_t": "Q", "double": "d"}
# the C loop's own words for what Python calls otherwise
RENAMED = {"peak_bytes": "peak_memory_bytes"}


def fields(name: str) -> list[tuple[str, str]]:
    """The fields of a packed C struct as (struct code, name)."""
    body = re.search(rf"struct __attribute__\(\(packed\)\) {name} {{(.*?)}};", C_SOURCE, re.DOTALL)
    assert body, name
    declared = re.findall(r"(\w+) ([\w, ]+);", body[1])
    return [(CODES[kind], RENAMED.get(each, each)) for kind, names in declared for each in names.split(", ")]


@pytest.mark.parametrize(
    ("name", "layout", "noun"), [("job", guests.JOB, guests.Job), ("record", guests.RECORD, guests.Record)]
)
def test_c_and_python_lay_out_the_same_fields_in_the_same_order(
    name: str, layout: struct.Struct, noun: type[guests.Job] | type[guests.Record]
) -> None:
    found = fields(name)
    assert "<" + "".join(code for code, _ in found) == layout.format
    assert tuple(each for _, each in found) == noun._fields


def test_c_and_python_number_the_kinds_of_run_alike() -> None:
    named = re.search(r"enum \w* ?{([^}]*MODE[^}]*)}", C_SOURCE)
    numbers = dict(re.findall(r"#define MODE_(\w+) (\d+)", C_SOURCE))
    if named:
        numbers |= dict(re.findall(r"MODE_(\w+) = (\d+)", named[1]))
    for name, number in numbers.items():
        assert getattr(guests, name) == int(number)
    assert int(re.findall(r"#define MAX_MESSAGE (\d+)", C_SOURCE)[0]) == guests.MAX_MESSAGE


def test_the_host_s_wire_is_the_guest_s() -> None:
    assert all(getattr(hosts, name) is getattr(guests, name) for name in hosts.__all__)


def test_a_job_and_its_records_survive_the_wire() -> None:
    job = guests.Job(2, True, 7, 3, 1 << 40, (1 << 40) + 1, 0.5, 1.5, 2.5, 20.5)
    assert guests.unpack_job(guests.JOB.pack(*job)) == job
    records = [guests.Record(-1, 1, 0.25, 0.5, -1.0, 1 << 40), guests.Record(97 << 8, 0, 1.0, 2.0, 3.0, 4)]
    assert guests.unpack_records(guests.pack_records(records)) == records


# --- each field arrives where it belongs: a real run for every limit


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    need_firejail()
    with bootstrap.grader(Settings()) as found:
        yield found


def verdict(grader: Grader, code: str, **limits: float) -> str:
    submission = Submission(id="x", code=code, tests=[StdinTest(output="")], limits=Limits.model_validate(limits))
    return grader.grade(submission).verdict


@pytest.mark.parametrize(
    ("code", "limits", "expected"),
    [
        ("while True: pass", {"cpu_seconds": 0.2, "wall_seconds": 30}, "TLE"),
        ("import time; time.sleep(60)", {"cpu_seconds": 30, "wall_seconds": 0.5}, "TLE"),
        ("x = bytearray(300 << 20)", {"memory_bytes": 100 << 20}, "MLE"),
        ("x = bytearray(300 << 20)", {"memory_bytes": 600 << 20}, "AC"),
        ("print('x' * 2000)", {"output_bytes": 1000}, "OLE"),
        ("print('x' * (20 << 20))", {"output_bytes": 30 << 20}, "WA"),
        ("import os; os.fork()", {"processes": 1}, "RTE"),
        ("import os; os.fork() or os._exit(0)", {"processes": 2}, "AC"),
    ],
)
def test_every_limit_arrives(grader: Grader, code: str, limits: dict[str, float], expected: str) -> None:
    assert verdict(grader, code, **limits) == expected


def test_what_was_seen_comes_back(grader: Grader) -> None:
    work = "x = b'x' * (200 << 20)\nwhile time.process_time() < 0.2: pass\ntime.sleep(0.3)"
    code = f"import time\n{work}\nraise SystemExit(7)"
    test = grader.grade(Submission(id="x", code=code, tests=[StdinTest(output="")])).tests[0]
    assert test.verdict == "RTE"
    assert "7" in (test.message or "")
    assert test.peak_memory_bytes > 200 << 20
    assert test.cpu_seconds >= 0.2
    assert test.cpu_seconds + 0.3 <= test.wall_seconds + 0.02
