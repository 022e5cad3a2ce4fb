"""`POST /api/v2/execute`: runs in Piston's format, and open-r1's tests of Codeforces problems."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sandbox_service.api.compat import piston
from tests.compat.faulty import BAD_TEST, BROKEN, LATE, answered
from tests.compat.programs import INPUTS, OUTPUTS, STREAMS
from tests.conftest import Service
from tests.languages.toolchains import need

EXECUTE = "/api/v2/execute"
PYTHON = {"language": "python", "version": "*", "run_timeout": 1000}
CODEFORCES = {"language": "cf_python3", "version": "*", "run_timeout": 4000}


def asked(service: Service, code: str, **fields: Any) -> tuple[int, Any]:
    return service.client.post(EXECUTE, PYTHON | {"files": [{"name": "main.py", "content": code}]} | fields)


def executed(service: Service, code: str, **fields: Any) -> dict[str, Any]:
    status, answer = asked(service, code, **fields)
    assert status == 200, answer
    assert answer["language"] == "python"
    assert answer["version"].startswith("3.")
    for stage in (answer["run"], answer["compile"]):
        assert stage["output"] == stage["stdout"] + stage["stderr"]
        assert stage.keys() == answer["compile"].keys()
    assert answer["compile"]["code"] == 0
    found: dict[str, Any] = answer["run"]
    return found


@pytest.mark.parametrize(
    ("code", "stdout", "end"),
    [
        (STREAMS["right"], "3\n", (0, None, None)),
        ("", "", (0, None, None)),
        (STREAMS["crashing"], "", (1, None, "RE")),
        ("import sys\nprint(1)\nsys.exit(3)", "1\n", (3, None, "RE")),
        (STREAMS["slow"], "", (None, "SIGKILL", "TO")),
        ("import ctypes\nctypes.string_at(0)", "", (None, "SIGSEGV", "SG")),
        ("x = 'x' * 10**10", "", (None, "SIGKILL", "SG")),
    ],
)
def test_every_end_is_told(service: Service, code: str, stdout: str, end: tuple[object, ...]) -> None:
    run = executed(service, code, stdin="1 2")
    assert run["stdout"] == stdout
    assert (run["code"], run["signal"], run["status"]) == end
    assert (run["message"] is None) == (run["code"] == 0)


def test_too_much_output(service: Service) -> None:
    run = executed(service, "while True: print('x' * 10**6)")
    assert (run["code"], run["signal"], run["status"]) == (None, "SIGKILL", "OL")


def test_what_cannot_be_compiled_is_not_run(service: Service) -> None:
    status, answer = asked(service, STREAMS["broken"])
    assert (status, answer["compile"]["code"]) == (200, 1)
    assert answer["run"] == answer["compile"]
    assert "never closed" in answer["compile"]["stderr"]


@pytest.mark.parametrize(("given", "read"), [("1", "1\n"), ("1\n", "1\n"), ("", "\n"), (None, "\n")])
def test_stdin_ends_with_a_newline(service: Service, given: str | None, read: str) -> None:
    assert executed(service, "import sys\nprint(repr(sys.stdin.read()))", stdin=given)["stdout"] == f"{read!r}\n"


def test_limits(service: Service) -> None:
    run = executed(service, "while True: pass", run_cpu_time=300, run_timeout=9000)
    assert run["status"] == "TO"
    assert 200 < run["cpu_time"] < 1000
    assert executed(service, "x = b'x' * (200 << 20)", run_memory_limit=100 << 20)["signal"] == "SIGKILL"
    assert executed(service, "x = b'x' * (200 << 20)", run_memory_limit=-1)["code"] == 0


@pytest.mark.parametrize(
    ("encoding", "content"),
    [("utf8", "print(3)"), ("base64", base64.b64encode(b"print(3)").decode()), ("hex", b"print(3)".hex())],
)
def test_encodings(service: Service, encoding: str, content: str) -> None:
    assert executed(service, "", files=[{"content": content, "encoding": encoding}])["stdout"] == "3\n"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"language": "cms_ioi"}, "runtime is unknown"),
        ({"language": "text"}, "runtime is unknown"),
        ({"language": "brainf"}, "runtime is unknown"),
        ({"version": "2.7.18"}, "runtime is unknown"),
        ({"version": None}, "version"),
        ({"files": []}, "files"),
        ({"files": None}, "files"),
        ({"files": [{"name": "x"}]}, "files[0].content"),
        ({"files": [{"content": ""}, {"content": ""}]}, "a path should be text"),
        ({"files": [{"content": ""}, {"content": "", "name": "../x"}]}, "not a file in the program's folder"),
        ({"files": [{"content": "!", "encoding": "base64"}]}, "not text in base64"),
        ({"files": [{"content": "xyz", "encoding": "hex"}]}, "not text in hex"),
        ({"files": [{"content": "/w==", "encoding": "base64"}]}, "not text in base64"),
        ({"run_timeout": -1}, "run_timeout"),
        ({"run_timeout": 1e9}, "the most is"),
        ({"run_memory_limit": 1 << 50}, "the most is"),
    ],
    ids=str,
)
def test_what_is_not_served_is_400_and_a_message(service: Service, fields: dict[str, Any], words: str) -> None:
    status, answer = asked(service, "", **fields)
    assert (status, list(answer)) == (400, ["message"])
    assert words in answer["message"]


def test_no_json_is_400_and_a_message(service: Service) -> None:
    status, answer = service.client.post(EXECUTE, b"{")
    assert (status, list(answer)) == (400, ["message"])


def test_runtimes(service: Service) -> None:
    status, answer = service.client.get("/api/v2/runtimes")
    pythons = [each for each in answer if each["language"] in ("python", "cf_python3")]
    assert (status, len(pythons), pythons[0]["aliases"]) == (200, 2, ["py", "python3"])
    assert all(each["version"].startswith("3.") for each in pythons)


def test_files_and_arguments(service: Service) -> None:
    code = "import sys, helper\nprint(helper.x, open('d/a').read(), sys.argv[1:])"
    files = [{"content": code}, {"name": "helper.py", "content": "x = 5"}, {"name": "d/a", "content": "6"}]
    assert executed(service, "", files=files, args=["-v", "w w"])["stdout"] == "5 6 ['-v', 'w w']\n"


def test_files_of_a_program_in_javascript(service: Service) -> None:
    need("javascript")
    files = [{"content": "console.log(require('./a').x)"}, {"name": "a.js", "content": "exports.x = 7"}]
    status, answer = asked(service, "", language="javascript", files=files)
    assert (status, answer["run"]["stdout"]) == (200, "7\n"), answer


def test_compiled_languages(service: Service) -> None:
    listed = {each["language"] for each in service.client.get("/api/v2/runtimes")[1]}
    if "c++" not in listed:
        pytest.skip("g++ is not installed")
    files = [{"content": '#include "a.h"\n#include <cstdio>\nint main() { printf("%d", A); }'}]
    files.append({"name": "a.h", "content": "#define A 7"})
    for language in ("c++", "cpp", "c++17"):
        status, answer = asked(service, "", language=language, files=files)
        assert (status, answer["run"]["stdout"], answer["compile"]["code"]) == (200, "7", 0), answer
    status, answer = asked(service, "int main() { return x; }", language="c++")
    assert (status, answer["compile"]["code"]) == (200, 1)
    assert "not declared" in answer["compile"]["stderr"]
    assert asked(service, "int main() {}", language="c++", args=["-v"])[0] == 400


# --- open-r1's package for Codeforces


def package(
    code: str, number: int = 0, config: str = "TIME_LIMIT=1.0\nMEMORY_LIMIT=256\nINPUT_MODE=stdio", **more: str
) -> Any:
    """Return the files as open-r1 sends them."""
    files = {"main.python": code, **more, "input.txt": INPUTS[number], "correct_output.txt": OUTPUTS[number]}
    files["grader_config"] = config
    return CODEFORCES | {"files": [{"name": name, "content": content} for name, content in files.items()]}


def is_passed(answer: dict[str, Any]) -> bool:
    """Read the answer as open-r1 does."""
    return bool(answer["run"]["code"] == 0 and answer["run"]["stdout"].strip() == "1")


@pytest.mark.parametrize(
    ("name", "number", "compiles", "expected"),
    [
        ("right", 0, True, True),
        ("wrong", 0, True, True),
        ("wrong", 1, True, False),
        ("slow", 0, True, False),
        ("crashing", 0, True, False),
        ("broken", 0, False, False),
    ],
)
def test_codeforces(service: Service, name: str, number: int, *, compiles: bool, expected: bool) -> None:
    status, answer = service.client.post(EXECUTE, package(STREAMS[name], number))
    assert status == 200, answer
    assert (is_passed(answer), answer["compile"]["code"] == 0) == (expected, compiles)
    if compiles:
        assert answer["run"]["stdout"] == ("1" if expected else "0")
        assert (answer["run"]["message"] is None) == expected


CHECKER = """import sys
wanted, found = sorted(open(sys.argv[2]).read().split()), sorted(open(sys.argv[3]).read().split())
print(int(wanted == found))
"""


def test_a_problem_with_a_checker(service: Service) -> None:
    for code, passed in (("print(3)", True), ("print('3 3')", False), ("print(4)", False)):
        status, answer = service.client.post(EXECUTE, package(code, 0, "", **{"checker.py": CHECKER}))
        assert (status, is_passed(answer)) == (200, passed), answer


def test_a_program_in_another_language(service: Service) -> None:
    if "c++" not in {each["language"] for each in service.client.get("/api/v2/runtimes")[1]}:
        pytest.skip("g++ is not installed")
    body = package("") | {"language": "c++17"}
    for sign, passed in (("+", True), ("-", False)):
        code = f"#include <iostream>\nint main() {{ int a, b; std::cin >> a >> b; std::cout << a {sign} b; }}"
        body["files"][0] = {"name": "main.cpp", "content": code}
        status, answer = service.client.post(EXECUTE, body)
        assert (status, is_passed(answer)) == (200, passed), answer


def test_a_program_cannot_pass_itself(service: Service) -> None:
    status, answer = service.client.post(EXECUTE, package("print(1)"))
    assert (status, answer["run"]["stdout"]) == (200, "0")


def test_its_limits(service: Service) -> None:
    hungry = "x = b'x' * (200 << 20)\n" + STREAMS["right"]
    _, answer = service.client.post(EXECUTE, package(hungry, config="TIME_LIMIT=2.0\nMEMORY_LIMIT=100"))
    assert "MLE" in answer["run"]["message"]
    assert is_passed(service.client.post(EXECUTE, package(hungry, config=""))[1])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (package("print(1)", 0, "", **{"checker.py": "raise ValueError"}), "bad_checker"),
        (package("", config="INPUT_MODE=file"), "only stdio"),
        (package("", config="TIME_LIMIT=soon"), "grader_config"),
        (package("", config="TIME_LIMIT=1e9"), "the most is"),
        (package("", config="MEMORY_LIMIT=inf"), "grader_config"),
        (CODEFORCES | {"files": [{"name": "main.python", "content": ""}]}, "the package needs"),
    ],
)
def test_other_packages_are_refused(service: Service, body: Any, words: str) -> None:
    status, answer = service.client.post(EXECUTE, body)
    assert (status, list(answer)) == (400, ["message"])
    assert words in answer["message"]


@pytest.mark.parametrize(("comes_to", "status"), [(BROKEN, 503), (LATE, 503), (BAD_TEST, 400)])
@pytest.mark.parametrize("body", [PYTHON | {"files": [{"content": ""}]}, package("")], ids=["python", "codeforces"])
def test_faults(monkeypatch: pytest.MonkeyPatch, body: Any, comes_to: Any, status: int) -> None:
    found, answer = answered(monkeypatch, piston.routes, EXECUTE, body, comes_to)
    assert (found, list(answer)) == (status, ["message"])


def test_an_alias_is_answered_with_the_name(service: Service) -> None:
    assert executed(service, "print(1)", language="py")["stdout"] == "1\n"
