"""Request bodies that cost much to read: hostile ones, and the largest honest ones, for every route that takes a body.

`python -m tests.service.bodies [WORD…]` sends those whose names have the words to a service of its own. It prints for
each the longest delay that another client saw meanwhile, the CPU time that the service's event loop spent within such a
delay, and the memory that the service took at its peak. On a busy machine the delay is longer, the CPU time is not.
"""

from __future__ import annotations

import gzip
import http.client
import itertools
import json
import multiprocessing
import os
import socket
import sys
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import zstandard

from tests.conftest import Service, running_service

MIB = 1 << 20
MANY_KEYS = 1_000_000  # 12 MB of names; a parser takes a second
TEST = '{"type":"stdin","input":"1 2\\n","output":"3\\n"}'
SUM = "print(sum(map(int, input().split())))"
PAUSE_SECONDS = 0.02  # of the other client, between two requests; delays of interest are longer
LOOK_SECONDS, SEARCH_SECONDS = 0.05, 0.5  # between two looks at the memory of processes, and searches for processes
_numbers = itertools.count()


@dataclass(frozen=True)
class Body:
    """A request. `statuses`: any one of these is an answer; `make` gives the body, which is never the same twice."""

    name: str
    path: str
    make: Callable[[], bytes]
    statuses: frozenset[int]
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)


REFUSED = frozenset({400, 413, 422})
GRADED = frozenset({200})
ANY = REFUSED | GRADED


def bodies() -> Iterator[Body]:
    """All of them."""
    yield from _of_submissions()
    yield from _of_batches()
    yield from _of_suites()
    yield from _packed()
    yield from _foreign()
    yield from _small()
    yield from _honest()


def _filled(before: str, item: str, after: str, size: int = 60 * MIB) -> Callable[[], bytes]:
    """`before`, as many items as fill the size, `after`."""

    def make() -> bytes:
        return (before + item * (size // len(item)) + after).encode()

    return make


def _keys(before: str, after: str, value: str, count: int) -> Callable[[], bytes]:
    def make() -> bytes:
        return (before + ",".join(f'"k{number}":{value}' for number in range(count)) + after).encode()

    return make


def _of_submissions() -> Iterator[Body]:
    grade = "/v1/grade"
    one = '{"code":"","tests":['
    shapes = {
        "tests of {}, 300,000": _filled(one, "{},", "{}]}", 900_000),
        "tests of {}": _filled(one, "{},", "{}]}"),
        "tests of []": _filled(one, "[],", "[]]}"),
        "tests of numbers": _filled(one, "1,", "1]}"),
        "tests of null": _filled(one, "null,", "null]}"),
        "tests of texts": _filled(one, '"",', '""]}'),
        "tests of wrong types": _filled(one, '{"type":"stdin","output":1},', '{"type":"stdin","output":1}]}'),
        "tests that are right, too many": _filled(one, TEST + ",", TEST + "]}"),
        "tests of many kinds of wrong": _filled(
            one, '{"type":"call"},{"type":"x"},{"type":"assert","code":[]},', "{}]}"
        ),
        "args of {}": _filled('{"code":"","tests":[{"type":"call","function":"f","output":1,"args":[', "{},", "{}]}]}"),
        "args of []": _filled('{"code":"","tests":[{"type":"call","function":"f","output":1,"args":[', "[],", "[]]}]}"),
        'args of {"":0}': _filled(
            '{"code":"","tests":[{"type":"call","function":"f","output":1,"args":[', '{"":0},', "{}]}]}"
        ),
        "outputs, all wrong": _filled('{"code":"","tests":[{"type":"stdin","output":[', "1,", "1]}]}"),
        "calls, all wrong": _filled(
            '{"code":"","tests":[{"type":"call","function":"f","output":1,"calls":[', "[],", "[]]}]}"
        ),
        "deep": lambda: b"[" * (60 * MIB),
        "deep in args": lambda: b'{"code":"","tests":[{"args":' + b"[" * (60 * MIB),
        "deep objects": lambda: b'{"a":' * (10 * MIB),
        "unknown fields": _keys('{"code":"",', "}", "1", MANY_KEYS),
        "unknown fields of a test": _keys('{"code":"","tests":[{"type":"stdin","output":"",', "}]}", "1", MANY_KEYS),
        "unknown fields of limits": _keys('{"code":"","limits":{', "}}", "1", MANY_KEYS),
        "labels": _keys('{"code":"","tests":[' + TEST + '],"labels":{', "}}", '"1"', MANY_KEYS),
        "labels, all wrong": _keys('{"code":"","tests":[' + TEST + '],"labels":{', "}}", "1", MANY_KEYS),
        "one key, again and again": _filled("{", '"code":"",', '"code":""}'),
        "a number of 60 million digits": lambda: b'{"code":' + b"1" * (60 * MIB) + b"}",
        "numbers of 4,000 digits": _filled(one, "1" * 4000 + ",", "1]}"),
        "a fraction of 60 million digits": lambda: b'{"code":0.' + b"1" * (60 * MIB) + b"}",
        "escapes": _filled('{"code":"', "\\u0041", '","tests":[]}'),
        "backslashes": _filled('{"code":"', "\\\\", '","tests":[]}'),
        "lone surrogates": _filled('{"code":"', "\\ud800", '","tests":[]}'),
        "no UTF-8": lambda: b'{"code":"' + b"\xff" * (60 * MIB) + b'"}',
        "NaN": _filled(one, "NaN,", "NaN]}"),
        "white space": lambda: b" " * (60 * MIB),
        "no JSON": lambda: b"x" * (60 * MIB),
        "an unclosed text": lambda: b'{"code":"' + b"x" * (60 * MIB),
        "commas in a text": _filled('{"code":1,"completion":"', ",[{", '"}'),
    }
    for name, make in shapes.items():
        yield Body(name, grade, make, REFUSED)
    for path in ("/v1/submissions", "/v1/grade/batch", "/v1/suites/missing", "/run_code", "/submit", "/get_reward"):
        yield Body("tests of {}", path, shapes["tests of {}"], REFUSED)
        yield Body("deep", path, shapes["deep"], REFUSED)


def _of_batches() -> Iterator[Body]:
    batch = "/v1/grade/batch"
    long_defaults = '{"defaults":{"code":"' + "x" * (30 * MIB) + '"},"submissions":['
    shapes = {
        "submissions of {}": _filled('{"submissions":[', "{},", "{}]}"),
        "submissions of {}, 100,000": _filled('{"submissions":[', "{},", "{}]}", 299_000),
        "submissions of numbers": _filled('{"submissions":[', "1,", "1]}"),
        "large defaults, 90,000 submissions": _filled(long_defaults, '{"code":1},', "{}]}", 990_000),
        "unknown fields of defaults": _keys('{"submissions":[{}],"defaults":{', "}}", "1", MANY_KEYS),
        "tests of {} in defaults": _filled('{"submissions":[{"code":""}],"defaults":{"tests":[', "{},", "{}]}}"),
        "one id for all": _filled(
            '{"defaults":{"tests":[' + TEST + ']},"submissions":[', '{"id":"1","code":""},', '{"code":""}]}', 1_800_000
        ),
        "the last is wrong": _filled(
            '{"defaults":{"tests":[' + TEST + ']},"submissions":[', '{"code":""},', "{}]}", 700_000
        ),
    }
    for name, make in shapes.items():
        yield Body(name, batch, make, ANY)


def _of_suites() -> Iterator[Body]:
    for name, make in {
        "tests of {}": _filled('{"tests":[', "{},", "{}]}"),
        "tests of wrong types": _filled('{"tests":[', '{"type":"stdin","output":1},', "{}]}"),
        "tests that are right, too many": _filled('{"tests":[', TEST + ",", TEST + "]}"),
        "unknown fields": _keys('{"tests":[],', "}", "1", MANY_KEYS),
    }.items():
        yield Body(name, "/v1/suites/" + "0" * 64, make, REFUSED, "PUT")

    def half_a_million() -> bytes:
        names = ",".join(f'"sha256:{number:064x}"' for number in range(500_000))
        return f'{{"suites":[{names}]}}'.encode()

    yield Body("half a million names", "/v1/suites/missing", half_a_million, REFUSED)


def _small() -> Iterator[Body]:
    """The dearest bodies that the event loop reads itself: within SMALL_PARTS and SMALL_BYTES of request_body."""
    one, items = '{"code":"","tests":[', {"{}": 1000, "1": 2000, TEST: 500, '{"type":"stdin","output":1}': 650}
    for item, count in items.items():
        yield Body(
            f"small: tests of {item[:12]}", "/v1/grade", _filled(one, item + ",", item + "]}", count * len(item)), ANY
        )
    rows = '{"defaults":{"tests":[' + TEST + ']},"submissions":['
    row = '{"completion":"no program"}'
    yield Body("small: submissions", "/v1/grade/batch", _filled(rows, row + ",", row + "]}", 650 * len(row)), ANY)
    yield Body("small: unknown fields", "/v1/grade", _keys('{"code":"",', "}", "1", 2000), ANY)
    yield Body("small: one long text", "/v1/grade", lambda: b'{"code":"' + b"\\u0041" * 20_000 + b'","tests":[]}', ANY)


def _packed() -> Iterator[Body]:
    packers: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
        "gzip": ("gzip", lambda data: gzip.compress(data, 6)),
        "gzip in gzip": ("gzip", lambda data: gzip.compress(gzip.compress(data, 6))),
        "gzip of 1,000 members": ("gzip", lambda data: b"".join(gzip.compress(data[at::1000]) for at in range(1000))),
        "zstd": ("zstd", lambda data: zstandard.compress(data)),
    }

    def tests() -> bytes:
        return b'{"code":"","tests":[' + b"{}," * (20 * MIB) + b"{}]}"

    for name, (encoding, pack) in packers.items():
        headers = {"Content-Encoding": encoding}
        yield Body(f"tests of {{}}, {name}", "/v1/grade", lambda pack=pack: pack(tests()), REFUSED, headers=headers)  # type: ignore[misc]
        yield Body(f"4 GiB of blanks, {name}", "/v1/grade", lambda name=name: _bomb(name), REFUSED, headers=headers)  # type: ignore[misc]


def _bomb(name: str) -> bytes:
    block = b" " * (64 * MIB)
    if name == "zstd":
        packer = zstandard.ZstdCompressor().compressobj()
        return b"".join(packer.compress(block) for _ in range(64)) + packer.flush()
    deflate = zlib.compressobj(wbits=31)
    packed = b"".join(deflate.compress(block) for _ in range(64)) + deflate.flush()
    return gzip.compress(packed) if name == "gzip in gzip" else packed


def _foreign() -> Iterator[Body]:
    program = '"program":"","max_execution_time":1'

    def packed(before: bytes, item: bytes, after: bytes, count: int) -> str:
        return b64encode(zlib.compress(before + item * count + after)).decode()

    def bomb() -> str:
        return packed(b"[", b"0,", b"0]", 30 * MIB)

    def objects() -> str:
        return packed(b'{"inputs":[', b"{},", b'{}],"outputs":[]}', 20 * MIB)

    shapes = {
        "/run_code": _keys('{"code":"","language":"python","files":{', "}}", "1", MANY_KEYS),
        "/submit": _filled(
            '{"completion":"```python\\n1\\n```","config":{"provided_data":{"test_cases":[', "{},", "{}]}}}"
        ),
        "/common_evaluate_batch": _keys(
            '{"completion":"","config":{"provided_data":{"test_cases":{', "}}}}", "[]", MANY_KEYS
        ),
        "/get_reward": _filled('{"query":[', "1,", '1],"labels":[],"prompts":[]}'),
        "/slime": _filled('{"response":"","label":[', "{},", "{}]}"),
        "/test_program": _filled("{" + program + ',"tests":[', "{},", "{}]}"),
        "/test_program_stdio": lambda: ("{" + program + f',"tests":"{bomb()}"}}').encode(),
        "/verify": lambda: (
            '{"response":{"output":[{"type":"message","content":[{"type":"output_text","text":"```python\\n1\\n```"}]}]},'
            f'"verifier_metadata":{{"unit_tests":{{"packed":"{objects()}"}}}}}}'
        ).encode(),
        "/aggregate_metrics": _filled('{"verify_responses":[', "1,", "1]}"),
        "/seed_session": _keys("{", "}", "1", MANY_KEYS),
        "/api/v2/execute": _filled('{"language":"python","version":"3","files":[', "{},", "{}]}"),
        "/submissions": _keys('{"source_code":"",', "}", "1", MANY_KEYS),
        "/submissions/batch": _filled('{"submissions":[', "{},", "{}]}"),
        "/execute": _filled('{"generated_code":[', "1,", '1],"language":"python"}'),
    }
    for path, make in shapes.items():
        yield Body("of its own kind", path, make, ANY)


def _honest() -> Iterator[Body]:
    def one() -> bytes:
        inputs = "1 2\n" + "7 " * (6000 // 2)
        tests = [{"type": "stdin", "input": inputs, "output": f"{number}\n"} for number in range(9000)]
        return json.dumps({"code": f"print({next(_numbers)})", "tests": tests}).encode()

    def edges() -> bytes:
        tests = [
            {"type": "call", "function": "f", "args": [[[i, i + 1] for i in range(100_000, 150_000)]], "output": 1}
            for _ in range(50)
        ]
        return json.dumps({"code": f"def f(a): return {next(_numbers)}", "tests": tests}).encode()

    def program() -> bytes:
        code = f"print({next(_numbers)})\n#" + "x" * (60 * MIB)
        return json.dumps({"code": code, "tests": [json.loads(TEST)]}).encode()

    def batch(count: int, size: int) -> Callable[[], bytes]:
        def make() -> bytes:
            run = next(_numbers)
            rows = [{"completion": f"```\n# {run} {number}\n```" + "x" * size} for number in range(count)]
            for row in rows:
                row["completion"] = row["completion"].replace("```", "")  # no program: quick to grade
            return json.dumps({"defaults": {"tests": [json.loads(TEST)]}, "submissions": rows}).encode()

        return make

    yield Body("honest: 9,000 tests, 55 MB", "/v1/grade", one, GRADED)
    yield Body("honest: 2.5 million edges, 40 MB", "/v1/grade", edges, GRADED)
    yield Body("honest: a program of 60 MB", "/v1/grade", program, GRADED)
    yield Body("honest: 9,000 tests, 55 MB", "/v1/submissions", one, frozenset({202}))
    yield Body("honest: 1,000 submissions, 8 MB", "/v1/grade/batch", batch(1000, 8000), GRADED)
    yield Body("honest: 30,000 submissions, 60 MB", "/v1/grade/batch", batch(30_000, 2000), GRADED)


# --- the other client


def _echo() -> socket.socket:
    """A connection to a process that answers each byte, until there are no more."""
    ours, theirs = socket.socketpair()
    if os.fork():
        theirs.close()
        return ours
    ours.close()
    while said := theirs.recv(1):
        theirs.sendall(said)
    os._exit(0)


def _loop_seconds(pid: int) -> float:
    """CPU time of a process's main thread, in which its event loop runs."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def _observe(port: int, pid: int, longest: Any, is_on: Any) -> None:
    """Ask again and again while `is_on`, and note the largest values since the last look.

    These are the wait; the wait that is not the service's; and the event loop's CPU time within a wait. The second is
    what another process needs that has nothing to do but to answer: it is long where the machine is busy.
    """
    echo = _echo()
    while is_on.wait():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        while is_on.is_set():
            began, used = time.monotonic(), _loop_seconds(pid)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            answered, used = time.monotonic(), _loop_seconds(pid) - used
            echo.sendall(b"x")
            echo.recv(1)
            echoed = time.monotonic()
            with longest.get_lock():
                seen = answered - began, echoed - answered, used
                longest[:] = [max(longest[place], seconds) for place, seconds in enumerate(seen)]
            time.sleep(PAUSE_SECONDS)
        connection.close()


class Observer:
    """Another client, in a process of its own."""

    def __init__(self, service: Service) -> None:
        context = multiprocessing.get_context("spawn")
        self._longest = context.Array("d", 3)
        self._is_on = context.Event()
        arguments = (service.port, service.process.pid, self._longest, self._is_on)
        self._process = context.Process(target=_observe, args=arguments, daemon=True)
        self._process.start()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask again and again, from before the beginning of the context until after its end."""
        self._is_on.set()
        while not self._longest[0]:
            assert self._process.is_alive()
            time.sleep(0.01)
        self.longest()
        try:
            yield
            time.sleep(0.2)
        finally:
            self._is_on.clear()

    def longest(self) -> tuple[float, float]:
        """Look at what was noted since the last call.

        Returns:
            The longest wait, less what the machine itself made others wait, and the most CPU time of the event loop
            within a wait; in seconds.
        """
        with self._longest.get_lock():
            waited, elsewhere, used = self._longest[:]
            self._longest[:] = 0.0, 0.0, 0.0
        return max(0.0, waited - elsewhere), used

    def end(self) -> None:
        """Ask no more."""
        self._process.kill()
        self._process.join(30)


class Memory:
    """What the service's own process and those that read for it have resident, the slots and jails left out."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._readers: list[psutil.Process] = []
        self._searched = 0.0
        self.peak = 0

    def watch(self, is_over: threading.Event) -> None:
        """Look again and again, and note the peak."""
        while not is_over.wait(LOOK_SECONDS):
            if time.monotonic() > self._searched + SEARCH_SECONDS:
                self._readers = list(self._search())
                self._searched = time.monotonic()
            self.peak = max(self.peak, sum(map(_resident, self._readers)))

    def _search(self) -> Iterator[psutil.Process]:
        for process in self._service.family():
            with suppress(psutil.NoSuchProcess):
                if any("cli" in part or "large" in part for part in process.cmdline()[:4]):
                    yield process


def _resident(process: psutil.Process) -> int:
    try:
        resident: int = process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0
    return resident


@dataclass(frozen=True)
class Seen:
    """What became of a body."""

    status: int
    answer: bytes
    seconds: float
    delay: float
    loop: float
    peak: int


def send(service: Service, observer: Observer, body: Body) -> Seen:
    """Send one, with somebody else asking meanwhile."""
    data = body.make()
    memory, is_over = Memory(service), threading.Event()
    looking = threading.Thread(target=memory.watch, args=(is_over,))
    with observer.asking():
        looking.start()
        began = time.monotonic()
        try:
            status, answer = service.client.request(body.method, body.path, data, body.headers)
        finally:
            is_over.set()
            looking.join()
        seconds = time.monotonic() - began
    return Seen(status, answer, seconds, *observer.longest(), memory.peak)


def main(words: list[str]) -> None:
    """Print the table."""
    print(
        "| route | body | MB | status | answer, bytes | seconds | delay of another, ms | of the loop, ms | peak MiB |\n"
        + "|---" * 9
        + "|"
    )
    with running_service(queue_bytes=4 << 30) as service:
        observer = Observer(service)
        for body in bodies():
            if all(word in f"{body.path} {body.name}" for word in words):
                try:
                    seen = send(service, observer, body)
                except OSError as error:
                    print(f"| {body.path} | {body.name} | {error!r} |", flush=True)
                    continue
                ok = "" if seen.status in body.statuses else " (!)"
                sent, said = f"{len(body.make()) / 1e6:.1f}", f"{seen.status}{ok} | {len(seen.answer)}"
                cost = f"{seen.seconds:.2f} | {1000 * seen.delay:.0f} | {1000 * seen.loop:.0f} | {seen.peak >> 20}"
                print(f"| {body.path[:24]} | {body.name} | {sent} | {said} | {cost} |", flush=True)
        observer.end()


if __name__ == "__main__":
    main(sys.argv[1:])
