"""Requests that are wrong, hostile, or merely odd: each gets a clear answer, and none costs the service its memory.

What the client must change is a 4xx whose message names it. What a program does wrong is a verdict. What a test does
wrong is `IE` with `bad_test`. Nothing here is a 5xx.
"""

from __future__ import annotations

import gzip
import http.client
import json
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
import zstandard

from tests.conftest import Service, running_service
from tests.guards import HANG_GUARD_SECONDS

MIB = 1 << 20
PLAIN: dict[str, Any] = {
    "code": "print(int(input()) + 1)",
    "tests": [{"type": "stdin", "input": "1\n", "output": "2\n"}],
}
RANDOM = "import os\nprint(os.urandom(16).hex())"


def stdin(output: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "stdin", "output": output, **fields}


def refused(service: Service, body: object, status: int = 422, encoding: str = "identity") -> str:
    """Post something that must be refused with this status; the message."""
    found, answer = service.client.post("/v1/grade", body, **{"Content-Encoding": encoding})
    assert found == status, answer
    return str(answer["error"]["message"])


def raw(**fields: str) -> bytes:
    """The plain submission with some fields written as JSON by hand."""
    written = {name: json.dumps(value) for name, value in PLAIN.items()} | fields
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in written.items()) + "}").encode()


def growth(service: Service, action: Callable[[], object]) -> int:
    """By how many bytes the RSS of the service and all its processes grew at most while `action` ran."""
    before, most, done = resident(service), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.05):
            most = max(most, resident(service))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        action()
    finally:
        done.set()
        watcher.join()
    return max(most, resident(service)) - before


def resident(service: Service) -> int:
    total = 0
    for process in service.family():
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def pending(service: Service) -> int:
    _, text = service.client.request("GET", "/metrics")
    found = re.search(rb"^proctor_pending_submissions (\S+)$", text, re.MULTILINE)
    assert found, text
    return int(float(found[1]))


def wait_pending(service: Service, wanted: Callable[[int], bool]) -> None:
    end = time.monotonic() + HANG_GUARD_SECONDS
    while not wanted(seen := pending(service)):
        assert time.monotonic() < end, f"{seen} submissions are still pending"
        time.sleep(0.05)


# --- fields


def test_an_empty_list_of_tests_is_refused(service: Service) -> None:
    assert "tests" in refused(service, PLAIN | {"tests": []})


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (PLAIN | {"stop_on_failures": True}, "stop_on_failures"),
        (PLAIN | {"tests": [stdin(inputs="1")]}, "tests[0].inputs"),
        (PLAIN | {"limits": {"cpu": 1}}, "limits.cpu"),
        (PLAIN | {"checker": {"tolerance": 1}}, "checker.tolerance"),
        (PLAIN | {"reward": {"schema": "fraction"}}, "reward.schema"),
    ],
)
def test_an_unknown_field_is_refused_by_name(service: Service, body: object, named: str) -> None:
    assert f"{named} is not known" in refused(service, body)


def test_an_unknown_language_is_refused_and_the_known_are_named(service: Service) -> None:
    message = refused(service, PLAIN | {"language": "klingon"})
    assert "klingon" in message
    assert "python" in message


@pytest.mark.parametrize("kind", ["shell", None, 3])
def test_an_unknown_type_of_test_is_refused(service: Service, kind: object) -> None:
    assert "tests[0]" in refused(service, PLAIN | {"tests": [{"type": kind, "output": ""}]})


@pytest.mark.parametrize("extra", [{"completion": "x"}, {"code": None}])
def test_exactly_one_of_code_and_completion_is_wanted(service: Service, extra: dict[str, Any]) -> None:
    assert "exactly one of code and completion" in refused(service, PLAIN | extra)


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        ({"cpu_seconds": 61}, "SANDBOX_MAX_CPU_SECONDS"),
        ({"wall_seconds": 301}, "SANDBOX_MAX_WALL_SECONDS"),
        ({"memory_bytes": 1 << 40}, "SANDBOX_MAX_MEMORY_BYTES"),
        ({"output_bytes": 1 << 40}, "SANDBOX_MAX_OUTPUT_BYTES"),
        ({"processes": 17}, "SANDBOX_MAX_PROCESSES"),
        ({"memory_bytes": 10**30}, "SANDBOX_MAX_MEMORY_BYTES"),
        ({"memory_bytes": 10**400}, "SANDBOX_MAX_MEMORY_BYTES"),
        ({"cpu_seconds": 1e300}, "SANDBOX_MAX_CPU_SECONDS"),
    ],
)
def test_a_limit_beyond_the_maximum_is_refused_naming_the_setting(
    service: Service, limits: dict[str, Any], setting: str
) -> None:
    assert setting in refused(service, PLAIN | {"limits": limits})


@pytest.mark.parametrize("value", ["0", "-1", "NaN", "Infinity", "-Infinity", "1e999", '"x"', "null", "[]"])
@pytest.mark.parametrize("name", ["cpu_seconds", "memory_bytes", "output_bytes", "processes"])
def test_a_limit_that_is_no_positive_number_is_refused(service: Service, name: str, value: str) -> None:
    assert f"limits.{name}" in refused(service, raw(limits=f'{{"{name}": {value}}}'))


def test_an_id_that_is_too_long_is_refused(service: Service) -> None:
    assert "id" in refused(service, PLAIN | {"id": "x" * 257})
    assert service.grade(**PLAIN, id="x" * 256)["id"] == "x" * 256


# --- bodies


@pytest.mark.parametrize("text", ["{", "nonsense", "[]", "3", '"{}"', '{"tests": [}', "null", "{}{}"])
def test_a_body_that_is_no_submission_is_refused(service: Service, text: str) -> None:
    assert refused(service, text.encode())


def test_an_empty_body_and_one_that_is_no_utf8_are_refused(service: Service) -> None:
    assert refused(service, b"")
    assert refused(service, json.dumps(PLAIN).encode("utf-16"))
    assert refused(service, b'{"code": "\xff\xfe", "tests": []}')


@pytest.mark.parametrize(
    "fields", [{"code": r'"print(\"\ud800\")"'}, {"tests": r'[{"type": "stdin", "input": "\udfff", "output": ""}]'}]
)
def test_lone_surrogates_are_refused(service: Service, fields: dict[str, str]) -> None:
    assert "is not json" in refused(service, raw(**fields)).lower()


def test_json_that_is_nested_too_deeply_is_refused(service: Service) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    test = f'[{{"type": "call", "function": "f", "args": [{deep}]}}]'
    assert "recursion" in refused(service, raw(tests=test)).lower()


def test_a_content_encoding_that_is_not_supported_is_refused_by_name(service: Service) -> None:
    message = refused(service, json.dumps(PLAIN).encode(), encoding="br")
    assert "br" in message
    assert "gzip" in message


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_packed_bodies_are_unpacked(service: Service, encoding: str) -> None:
    status, grade = service.client.post("/v1/grade", packed(encoding), **{"Content-Encoding": encoding})
    assert (status, grade["verdict"]) == (200, "AC")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_broken_packing_is_refused(service: Service, encoding: str) -> None:
    whole = packed(encoding)
    for broken in (whole[:-6], whole[: len(whole) // 2], b"\0" + whole, json.dumps(PLAIN).encode(), b""):
        assert refused(service, broken, encoding=encoding)


def packed(encoding: str) -> bytes:
    body = json.dumps(PLAIN).encode()
    return gzip.compress(body) if encoding == "gzip" else zstandard.compress(body)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_refused_within_bounded_memory(service: Service, encoding: str) -> None:
    bomb = zeros(encoding, 1024)
    assert len(bomb) < 8 * MIB

    def throw() -> None:
        assert "unpacks to over" in refused(service, bomb, 413, encoding)

    assert growth(service, throw) < 300 * MIB


def zeros(encoding: str, mebibytes: int) -> bytes:
    if encoding == "zstd":
        packer = zstandard.ZstdCompressor(level=1).compressobj()
        return b"".join(packer.compress(bytes(MIB)) for _ in range(mebibytes)) + packer.flush()
    deflater = zlib.compressobj(level=1, wbits=31)
    return b"".join(deflater.compress(bytes(MIB)) for _ in range(mebibytes)) + deflater.flush()


def test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_read(service: Service) -> None:
    def throw() -> None:
        assert "the most is" in refused(service, bytes(100 * MIB), 413)

    assert growth(service, throw) < 100 * MIB


def test_a_body_of_unknown_length_that_grows_too_large_is_refused(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=HANG_GUARD_SECONDS) as connection:
        connection.sendall(b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + bytes(MIB) + b"\r\n"
        try:
            for _ in range(100):
                connection.sendall(chunk)
        except OSError:
            pass  # it need not listen to the end
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_million_tests_are_refused_naming_the_setting_within_bounded_memory(service: Service) -> None:
    tests = ",".join(['{"type":"stdin","output":""}'] * 1_000_000)

    def throw() -> None:
        assert "SANDBOX_MAX_TESTS" in refused(service, raw(tests=f"[{tests}]"))

    assert growth(service, throw) < 1200 * MIB


# --- odd, but right


def test_zero_bytes_in_code_are_a_compile_error_and_in_input_are_nothing_special(service: Service) -> None:
    assert service.grade(code="print(1)\0", tests=[stdin("1")])["verdict"] == "CE"
    code = "import sys\nprint(sys.stdin.read().count(chr(0)))"
    assert service.grade(code=code, tests=[stdin("3", input="a\0\0b\0")])["verdict"] == "AC"


def test_fifty_megabytes_of_input_arrive_whole(service: Service) -> None:
    code = "import sys, zlib\ndata = sys.stdin.buffer.read()\nprint(len(data), zlib.crc32(data))"
    given = "0123456789abcde\n" * (50 * MIB // 16)
    grade = service.grade(code=code, tests=[stdin(f"{len(given)} {zlib.crc32(given.encode())}", input=given)])
    assert grade["verdict"] == "AC", grade


@pytest.mark.parametrize("checker", ["exact", "lines", "tokens", "numbers"])
def test_five_megabytes_of_right_output_are_accepted(service: Service, checker: str) -> None:
    output = "".join(f"{number}\n" for number in range(700_000))
    code = "print(*range(700_000), sep='\\n')"
    assert service.grade(code=code, tests=[stdin(output)], checker={"type": checker})["verdict"] == "AC"
    wrong = output[:-2] + "8\n"
    assert service.grade(code=code, tests=[stdin(wrong)], checker={"type": checker})["verdict"] == "WA"


def test_output_that_is_no_utf8_is_compared_as_bytes_and_shown_with_replacements(service: Service) -> None:
    code = r"import sys; sys.stdout.buffer.write(b'a\xff\xfeb\n')"
    for expected in ("a\ufffd\ufffdb\n", "ab\n"):
        grade = service.grade(code=code, tests=[stdin(expected)], checker={"type": "exact"})
        assert grade["verdict"] == "WA", grade
        assert grade["tests"][0]["stdout"] == "a\ufffd\ufffdb\n"


def test_a_gigabyte_of_output_is_refused_within_bounded_memory(service: Service) -> None:
    code = "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))"

    def flood() -> None:
        grade = service.grade(code=code, tests=[stdin("x")])
        assert grade["verdict"] == "OLE", grade
        assert grade["tests"][0]["stdout_truncated"]

    assert growth(service, flood) < 200 * MIB


@pytest.mark.parametrize("number", ["1" + "0" * 30, "-" + "9" * 400, "1" + "0" * 4000])
def test_huge_integers_arrive_whole(service: Service, number: str) -> None:
    test = f'[{{"type": "call", "function": "f", "args": [{number}], "output": {number}}}]'
    status, grade = service.client.post("/v1/grade", raw(code='"def f(x): return x"', tests=test))
    assert (status, grade.get("verdict")) == (200, "AC"), grade
    status, grade = service.client.post("/v1/grade", raw(code='"def f(x): return x + 1"', tests=test))
    assert (status, grade.get("verdict")) == (200, "WA"), grade


def test_an_integer_beyond_what_python_reads_is_refused(service: Service) -> None:
    number = "1" + "0" * 5000
    test = f'[{{"type": "call", "function": "f", "args": [{number}], "output": 1}}]'
    assert refused(service, raw(code='"def f(x): return 1"', tests=test))
    status, answer = service.client.post(
        "/v1/grade/batch", b'{"submissions": [%s]}' % raw(code='"def f(x): return 1"', tests=test)
    )
    assert status == 422, answer


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_json_constants_are_arguments_like_others(service: Service, value: str) -> None:
    """Python writes them, so data sets have them."""
    test = f'[{{"type": "call", "function": "f", "args": [{value}], "output": true}}]'
    code = json.dumps(f"import math\ndef f(x): return str(x) == str(float('{value}'))")
    status, grade = service.client.post("/v1/grade", raw(code=code, tests=test))
    assert (status, grade.get("verdict")) == (200, "AC"), grade


def test_arguments_nested_as_deeply_as_json_allows_arrive_whole(service: Service) -> None:
    deep = "[" * 150 + "]" * 150
    test = f'[{{"type": "call", "function": "f", "args": [{deep}], "output": 150}}]'
    code = "def f(x):\n    depth = 1\n    while x:\n        x = x[0]\n        depth += 1\n    return depth"
    status, grade = service.client.post("/v1/grade", raw(code=json.dumps(code), tests=test))
    assert (status, grade.get("verdict")) == (200, "AC"), grade


def test_a_test_that_nothing_can_pass_is_our_fault(service: Service) -> None:
    tests = [stdin("nan")]
    grade = service.grade(code="print('nan')", tests=tests, checker={"type": "numbers"})
    assert (grade["verdict"], grade["failure_kind"], grade["reward"]) == ("IE", "bad_test", None), grade
    assert grade["mask_sample"] is True


# --- ids


def test_one_id_and_body_are_answered_the_same_and_computed_once(service: Service) -> None:
    body = {"code": RANDOM, "tests": [stdin("?")]}
    one, again = (service.grade(**body, id="once") for _ in range(2))
    assert one["tests"][0]["stdout"] == again["tests"][0]["stdout"] != ""
    assert service.grade(**body, id="twice")["tests"][0]["stdout"] != one["tests"][0]["stdout"]


def test_one_id_sent_many_times_at_once_is_computed_once(service: Service) -> None:
    body = {"code": "import time; time.sleep(0.3)\n" + RANDOM, "tests": [stdin("?")], "id": "at once"}
    with ThreadPoolExecutor(8) as threads:
        grades = list(threads.map(lambda _: service.grade(**body), range(8)))
    assert len({grade["tests"][0]["stdout"] for grade in grades}) == 1


def test_one_id_with_another_body_is_a_conflict(service: Service) -> None:
    service.grade(**PLAIN, id="taken")
    other = PLAIN | {"id": "taken", "code": "print(3)"}
    assert "taken" in refused(service, other, 409)
    status, answer = service.client.post("/v1/grade/batch", {"submissions": [other]})
    assert (status, answer["error"]["type"]) == (409, "id_reused")


# --- batches


def test_a_batch_with_one_bad_submission_is_refused_whole_naming_it(service: Service) -> None:
    good = [PLAIN | {"id": f"good-{number}", "code": RANDOM} for number in range(3)]
    status, answer = service.client.post("/v1/grade/batch", {"submissions": [*good, PLAIN | {"tests": []}]})
    assert status == 422, answer
    assert "submissions[3]: tests" in answer["error"]["message"]
    # had one been graded, its id would be taken
    assert service.grade(**PLAIN, id="good-0")["verdict"] == "AC"


def test_a_batch_with_a_limit_too_high_or_no_such_language_names_the_submission(service: Service) -> None:
    for wrong in ({"limits": {"cpu_seconds": 1000}}, {"language": "klingon"}):
        status, answer = service.client.post("/v1/grade/batch", {"submissions": [PLAIN, PLAIN | wrong]})
        assert status == 422, answer
        assert "submissions[1]: " in answer["error"]["message"]


def test_bad_defaults_are_named(service: Service) -> None:
    bad: tuple[dict[str, Any], ...] = ({"tests": [{}]}, {"limit": {}}, {"tests": []})
    for wrong in bad:
        status, answer = service.client.post("/v1/grade/batch", {"defaults": wrong, "submissions": [{"code": "1"}]})
        assert status == 422, answer
        assert next(iter(wrong)) in answer["error"]["message"]


def test_a_batch_with_one_id_twice_is_refused(service: Service) -> None:
    status, answer = service.client.post("/v1/grade/batch", {"submissions": [PLAIN | {"id": "a"}] * 2})
    assert status == 422, answer
    assert "have the id" in answer["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"submissions": []}, {"submissions": [3]}, {"submissions": [{}], "more": 1}])
def test_a_batch_that_is_none_is_refused(service: Service, body: object) -> None:
    status, answer = service.client.post("/v1/grade/batch", body)
    assert status == 422, answer


# --- routes and keys


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/", 405, "method_not_allowed"),
        ("GET", "/v1/grade", 405, "method_not_allowed"),
        ("DELETE", "/v1/grade/batch", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_wrong_paths_and_methods_are_answered_in_json(
    service: Service, method: str, path: str, status: int, kind: str
) -> None:
    found, body = service.client.request(method, path, b"{}" if method == "POST" else None)
    assert (found, json.loads(body)["error"]["type"]) == (status, kind)


@pytest.fixture(scope="module")
def small() -> Iterator[Service]:
    """A service with keys and a short queue."""
    with running_service(api_keys="first, second", queue_submissions=4, slots=1) as running:
        yield running


def test_a_full_queue_says_when_to_come_back(small: Service) -> None:
    sleeper = {"code": "import time; time.sleep(1); print(2)", "tests": PLAIN["tests"]}
    key = {"Authorization": "Bearer first"}
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: small.client.post("/v1/grade", sleeper, **key), range(8)))
    assert sorted(status for status, _ in answers) == [200] * 4 + [429] * 4
    refusals = [answer["error"] for status, answer in answers if status == 429]
    assert all(refusal["type"] == "queue_full" and refusal["retry_after_seconds"] > 0 for refusal in refusals)


def test_a_full_queue_sends_the_header_retry_after(small: Service) -> None:
    sleeper = {"code": "import time; time.sleep(1)", "tests": [stdin()]}
    key = {"Authorization": "Bearer first"}
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(small.client.request, "POST", "/v1/grade/batch", many(sleeper), key)
        wait_pending(small, lambda seen: seen >= 2)
        connection = http.client.HTTPConnection("127.0.0.1", small.port, timeout=HANG_GUARD_SECONDS)
        connection.request("POST", "/v1/grade/batch", many(PLAIN), key)
        answer = connection.getresponse()
        assert answer.status == 429
        assert int(answer.headers["Retry-After"]) >= 1
        connection.close()
        assert running.result()[0] == 200


def many(submission: dict[str, Any]) -> bytes:
    return json.dumps({"submissions": [submission] * 3}).encode()


def test_a_batch_that_no_queue_takes_is_refused_for_good(small: Service) -> None:
    status, answer = small.client.post("/v1/grade/batch", {"submissions": [PLAIN] * 5}, Authorization="Bearer first")
    assert (status, answer["error"]["type"]) == (413, "body_too_large"), answer
    assert "5 submissions" in answer["error"]["message"]


# --- clients that go away


SLOW_TESTS = [stdin("1")] * 60  # a second each


def abandon(service: Service, path: str, body: object) -> None:
    """Send a request, wait until it is being worked at, and hang up."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
        connection.sendall(head.encode() + data)
        wait_pending(service, lambda seen: seen > 0)
        time.sleep(0.5)


def test_work_whose_client_has_gone_is_cancelled(service: Service) -> None:
    wait_pending(service, lambda seen: seen == 0)
    abandon(service, "/v1/grade", {"code": "import time; time.sleep(1); print(1)", "tests": SLOW_TESTS})
    wait_pending(service, lambda seen: seen == 0)


def test_a_batch_whose_client_has_gone_is_cancelled(service: Service) -> None:
    wait_pending(service, lambda seen: seen == 0)
    slow = {"code": "import time; time.sleep(1); print(1)", "tests": SLOW_TESTS}
    abandon(service, "/v1/grade/batch", {"submissions": [slow] * 20})
    wait_pending(service, lambda seen: seen == 0)


def test_an_id_that_was_abandoned_can_be_sent_again(service: Service) -> None:
    slow = {"id": "left", "code": "import time; time.sleep(0.5); print(1)", "tests": [stdin("1")] * 4}
    abandon(service, "/v1/grade", slow)
    assert service.grade(**slow)["verdict"] == "AC"


def test_a_client_that_goes_away_while_it_sends_does_no_harm(service: Service) -> None:
    for cut in (20, 120, 200):
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            head = b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"x" * 200
            connection.sendall(head[:cut])
    assert service.grade(**PLAIN)["verdict"] == "AC"
