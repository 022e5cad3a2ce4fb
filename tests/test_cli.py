"""The command line: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_service import cli
from sandbox_service.commands import bench, grade_output, grade_published, remote_grading, serve, trainer
from sandbox_service.commands.grade_input import read_problem
from sandbox_service.doctor import preflight
from sandbox_service.schema import Grade, TestResult, Verdict
from sandbox_service.settings import Settings
from tests.conftest import Service, need_firejail, running_service
from tests.processes import is_firejail
from tests.validation.sources import published

TEST = {"type": "stdin", "input": "1 2\n", "output": "3\n"}
OTHER_TEST = {"type": "stdin", "input": "20 22\n", "output": "42\n"}
ADD = "print(sum(map(int, input().split())))"
FILES = {
    "right.py": ADD,
    "half.py": "print(3)",
    "noisy.py": "raise ValueError('\\x1b[31mred\\x9b2J [bold]')",
    "answer.md": f"I think:\n```python\n{ADD}\n```\n",
    "silent.md": "I do not know.",
}
EXPECTED = {"right.py": "AC", "half.py": "WA", "noisy.py": "RTE", "answer.md": "AC", "silent.md": "CE"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a problem and solutions, with default settings."""
    for name in [name for name in os.environ if name.startswith(("SANDBOX_", "PROCTOR_API"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SANDBOX_LOG_LEVEL", "warning")
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    write("problem.json", {"tests": [TEST, OTHER_TEST], "limits": {"cpu_seconds": 1}})
    return tmp_path


def write(name: str, content: object) -> None:
    Path(name).write_text(json.dumps(content))


def proctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process, as a shell would."""
    command = [sys.executable, "-m", "sandbox_service.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the message of a refused command: one line on stderr, and status 2."""
    assert cli.main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("proctor: ")
    assert err.count("\n") == 1
    return err


# --- grade


def test_grade_here_prints_a_table() -> None:
    need_firejail()
    ended = proctor("grade", "problem.json", *FILES, "--jobs", "2")
    assert ended.returncode == 1, ended.stderr
    rows = {row[0]: row for line in ended.stdout.splitlines() if (row := line.split()) and row[0] in FILES}
    assert {name: row[1] for name, row in rows.items()} == EXPECTED
    assert list(rows) == list(FILES), "in the order given"
    assert rows["half.py"][2:4] == ["0", "1/2"]
    assert "test 1: line 1: got '3', expected '42'" in ended.stdout
    assert "no code block" in ended.stdout
    assert "2 of 5 accepted" in ended.stdout
    assert not {"\x1b", "\x9b"} & set(ended.stdout), "no program may speak to the terminal"


def test_grade_here_prints_json_lines() -> None:
    need_firejail()
    write("list.json", [TEST])
    ended = proctor("grade", "list.json", "right.py", "answer.md", "--json", "--jobs", "1")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.isascii()
    grades = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {grade["id"]: grade["reward"] for grade in grades} == {"right.py": 1.0, "answer.md": 1.0}


def test_grade_by_a_service(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    for again in range(2):
        assert cli.main(["grade", "problem.json", *FILES, "--url", f"{service.client.url}/", "--json"]) == 1
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {grade["id"]: grade["verdict"] for grade in found} == EXPECTED, again
    assert cli.main(["grade", "problem.json", "right.py", "right.py", "--url", service.client.url]) == 0
    assert "2 of 2 accepted" in capsys.readouterr().out


def test_a_service_may_ask_for_a_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with running_service(api_keys="sesame", slots=1) as guarded:
        command = ["grade", "problem.json", "right.py", "--url", guarded.client.url]
        assert "the environment variable PROCTOR_API_KEY is not set" in complaint(capsys, *command)
        monkeypatch.setenv("PROCTOR_API_KEY", "sesame")
        assert cli.main(command) == 0


def test_interrupted_nothing_is_left() -> None:
    need_firejail()
    write("slow.json", {"tests": [TEST], "limits": {"cpu_seconds": 50}})
    Path("slow.py").write_text("while True: pass")
    command = [sys.executable, "-m", "sandbox_service.cli", "grade", "slow.json", "slow.py"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        family = until_jailed(psutil.Process(process.pid))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not psutil.wait_procs(family, timeout=10)[1]


def until_jailed(process: psutil.Process) -> list[psutil.Process]:
    """Wait until firejail has started and return all child processes."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        family = process.children(recursive=True)
        if any(is_firejail(child) for child in family):
            return family
        time.sleep(0.05)
    raise AssertionError("no jail was started")


def test_without_stdout_a_command_ends_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["serve", "--settings"]) == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"proctor {version('proctor')}\n"


def test_a_full_disk_is_told_whatever_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert cli.main(["--version"]) == 2
    assert capsys.readouterr().err == "proctor: the output cannot be written: no space is left\n"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ({"tests": []}, "problem.json: there are no tests"),
        ([], "problem.json: there are no tests"),
        ({}, "problem.json: there are no tests"),
        ("tests", "problem.json: neither a JSON object nor a list of tests"),
        (
            {"tests": [TEST], "limit": {}},
            "problem.json: unknown field 'limit'; known fields: language, extraction, tests",
        ),
        ({"tests": [TEST], "code": "x"}, "problem.json: remove 'code'"),
        ({"tests": [TEST | {"outputs": "3"}]}, "problem.json: tests[0].outputs is not known"),
        (
            {"tests": [TEST], "reward": {"scheme": "best"}},
            "problem.json: reward.scheme should be 'all_or_nothing'",
        ),
        ({"tests": [TEST], "id": "a", "prompt": "Add.", "limit": 1}, "problem.json: limit is not known"),
        ({"tests": [TEST], "language": "cobol"}, "language 'cobol' is not supported; there is: python"),
        ({"tests": [TEST], "limits": {"cpu_seconds": 1e4}}, "proctor: limits.cpu_seconds is 10000, the most is 60"),
    ],
)
def test_bad_problems(problem: object, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    need_firejail()
    write("problem.json", problem)
    assert said in complaint(capsys, "grade", "problem.json", "right.py")


def test_a_line_of_a_data_set_is_a_problem() -> None:
    line = {"id": "a", "prompt": "Add.", "tests": [TEST], "limits": {"cpu_seconds": 1}, "solutions": [{"code": "1"}]}
    write("line.jsonl", line)
    assert read_problem(Path("line.jsonl")) == {"tests": [TEST], "limits": {"cpu_seconds": 1}}


def test_a_problem_of_a_published_data_set_is_graded(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    there = ("--url", service.client.url)
    rows = [published.HUMANEVAL, published.HUMANEVAL | {"task_id": "HumanEval/1"}]
    Path("humaneval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("good.py").write_text(published.HUMANEVAL["prompt"] + published.HUMANEVAL["canonical_solution"])
    for wanted in ("HumanEval/1", "0"):
        assert cli.main(["grade", "humaneval.jsonl", "good.py", "--id", wanted, *there]) == 0
    assert capsys.readouterr().out.count("1 of 1 accepted") == 2
    Path("one.json").write_text(json.dumps(published.HUMANEVAL))
    assert cli.main(["grade", "one.json", "good.py", *there]) == 0
    assert "1 of 1 accepted" in capsys.readouterr().out
    assert "several problems; name one with --id, such as" in complaint(capsys, "grade", "humaneval.jsonl", "good.py")
    assert "no problem 'x'" in complaint(capsys, "grade", "humaneval.jsonl", "good.py", "--id", "x")


@pytest.mark.parametrize("kind", sorted(published.ROWS))
def test_each_published_form_gives_a_problem(kind: str) -> None:
    Path("row.jsonl").write_text(json.dumps(published.ROWS[kind][1]) + "\n", errors="surrogatepass")
    assert grade_published.is_published(Path("row.jsonl")) == (kind != "ours")
    assert grade_published.read(Path("row.jsonl"), "")["tests"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"slots": 3}, "http://127.0.0.1:8080/ (the page; its API: http://127.0.0.1:8080/docs); 3 slots grade on this"),
        ({"host": "::1", "port": 81}, "http://[::1]:81/"),
        ({"redis_url": "redis://x"}, "; workers grade; no API key is needed"),
        ({"host": "0.0.0.0", "api_keys": "a"}, "every request needs an API key"),
        ({"host": "0.0.0.0"}, "WARNING: 0.0.0.0 is reachable from other machines and no key is needed"),
    ],
)
def test_the_service_says_where_it_is_and_who_may_use_it(settings: dict[str, Any], said: str) -> None:
    announced = serve.announcement(Settings(**settings))
    assert said in announced
    assert ("WARNING" in announced) == (settings == {"host": "0.0.0.0"})


def test_bad_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("latin.py").write_bytes(b"print('\xe9')")
    for files, said in {
        ("missing.json", "right.py"): "missing.json: No such file or directory",
        ("problem.json", "missing.py"): "missing.py: No such file or directory",
        ("problem.json", "."): ".: Is a directory",
        ("problem.json", "latin.py"): "latin.py: not UTF-8: invalid continuation byte at byte 7",
        ("right.py", "right.py"): "right.py: not JSON: Expecting value",
        ("problem.json", "right.py", "--jobs", "0"): "--jobs: must be at least 1",
        (
            "problem.json",
            "right.py",
            "--jobs",
            "2",
            "--url",
            "http://127.0.0.1:1",
        ): "--jobs applies to grading on this machine",
        ("problem.json", "right.py", "--url", "127.0.0.1:80"): "not an address like http://",
        ("problem.json", "right.py", "--url", "http://127.0.0.1:many"): "--url http://127.0.0.1:many: Port",
    }.items():
        assert said in complaint(capsys, "grade", *files)


def test_unknown_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["grade", "problem.json", "right.py", "--fast"])
    assert ended.value.code == 2
    assert "unrecognized arguments: --fast" in capsys.readouterr().err


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_grading, "PATIENCE_SECONDS", 0.5)


@pytest.mark.usefixtures("impatient")
def test_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    said = complaint(capsys, "grade", "problem.json", "right.py", "--url", f"http://127.0.0.1:{port}")
    assert "is the service running? (proctor serve)" in said


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"<html>", "is --url the address of a reward service?"),
        (429, b'{"error": {"type": "queue_full", "message": "too much"}}', "(429 queue_full too much): see --url"),
        (200, b"\n\n", "the answer ended with 1 of its submissions not graded"),
        (200, b'{"score": 1}\n', "is not a grade; does the service have another version?"),
        (200, b'{"id": "somebody", "verdict": "AC", "reward": 1}\n', "answered for a submission that was not sent"),
        (
            200,
            b'{"id": "%s", "error": {"type": "unavailable", "message": "closing"}}\n',
            "unavailable closing): see --url",
        ),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_strange_services(status: int, body: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(status, body) as url:
        assert said in complaint(capsys, "grade", "problem.json", "right.py", "--url", url, "--json")


def test_a_fault_of_ours_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    grade = b'{"id": "%s", "verdict": "IE", "reward": null, "failure_kind": "sandbox", "failure_reason": "it died"}\n'
    with answering(200, grade) as url:
        assert cli.main(["grade", "problem.json", "right.py", "--url", url]) == 1
    out = capsys.readouterr().out
    assert "IE" in out
    assert "sandbox: it died" in out


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """Answer any POST with this; `%s` is replaced by the first submission's id."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.replace(b"%s", sent["submissions"][0]["id"].encode()))

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_first_failures() -> None:
    late = [TestResult(index=0, verdict=Verdict.AC), TestResult(index=1, verdict=Verdict.TLE, message="slow")]
    failed = Grade(id="", verdict=Verdict.TLE, reward=0.0, tests=late)
    fault = Grade(id="", verdict=Verdict.IE, reward=None, failure_kind="sandbox", failure_reason="no jail")
    assert grade_output.first_failure(failed) == "test 1: slow"
    assert grade_output.first_failure(fault) == "sandbox: no jail"
    assert grade_output.printable("a\tb\x1b[0m\u202e") == "a b\ufffd[0m\ufffd"
    assert len(grade_output.printable("x" * 10_000)) == grade_output.MOST_SHOWN


# --- serve


def test_serve_with_its_port_taken(capsys: pytest.CaptureFixture[str]) -> None:
    need_firejail()
    before = set(psutil.Process().children(recursive=True))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = complaint(capsys, "serve", "--port", port)
    assert f"port {port}: it is in use; choose another --port" in said
    assert set(psutil.Process().children(recursive=True)) <= before, "nothing was started"


def test_serve_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert "SANDBOX_PORT should be" in complaint(capsys, "serve", "--port", "99999")
    need_firejail()
    assert "choose another --host" in complaint(capsys, "serve", "--host", "no.such.host.invalid")
    monkeypatch.setenv("SANDBOX_PYTHON", str(folder / "python3"))
    said = complaint(capsys, "serve")
    assert f"there is no interpreter for submissions at {folder}/python3; to mend it: apt-get install python3" in said
    monkeypatch.setenv("SANDBOX_ISOLATION_PROGRAM", str(folder / "firejail"))
    assert f"firejail is not at {folder}/firejail; to mend it: apt-get install firejail" in complaint(capsys, "serve")
    assert f"firejail is not at {folder}" in complaint(capsys, "grade", "problem.json", "right.py")


def test_serve_elsewhere_than_on_linux(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert "this is Darwin, and sandboxes need Linux namespaces; to mend it: run it on" in complaint(capsys, "serve")


def test_without_root_and_without_suid(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "firejail").write_text("#!/bin/sh\necho firejail version 0.9.72\n")
    (folder / "firejail").chmod(0o755)
    monkeypatch.setenv("SANDBOX_ISOLATION_PROGRAM", str(folder / "firejail"))
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    said = complaint(capsys, "grade", "problem.json", "right.py")
    assert (
        f"not root, and {folder}/firejail is not SUID root; to mend it: chown root {folder}/firejail && chmod u+s"
        in said
    )


def test_listen_gives_a_socket_that_accepts() -> None:
    with preflight.listen(Settings(port=8499)) as listener, socket.create_connection(listener.getsockname(), timeout=5):
        pass


# --- bench


def test_bench_passes_everything_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        given.append(arguments)
        return 7

    monkeypatch.setattr(bench, "run", run)
    assert cli.main(["bench", "--quick", "soak", "--tests", "5", "-h"]) == 7
    assert given == [["--quick", "soak", "--tests", "5", "-h"]]


def test_train_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(trainer, "find_spec", lambda name: None if name == "vllm" else object())
    assert cli.main(["train", "config.toml"]) == cli.USAGE_ERROR
    assert "needs vllm: pip install 'proctor[trainer]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "module"),
    [
        (["train", "config.toml", "loss.name=aspo", "--help"], "trainer"),
        (["evaluate", "model", "--n", "8", "problems.jsonl", "--k=1,8", "-h"], "trainer.evaluation"),
    ],
)
def test_the_trainer_gets_everything_in_our_place(
    given: list[str], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(trainer, "find_spec", lambda _: object())
    monkeypatch.setattr(os, "execve", lambda _, command, __: commands.append(command))
    cli.main(given)
    assert commands == [[sys.executable, "-m", module, *given[1:]]]


def test_bench_runs_the_repositorys(folder: Path) -> None:
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__main__.py").write_text("import sys; sys.exit(len(sys.argv))")
    (folder / "pyproject.toml").touch()
    assert bench.run(["--quick", "--rounds"], folder) == 3


def test_bench_outside_the_repository(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    monkeypatch.setattr(bench.run, "__defaults__", (folder,))
    assert "the benchmarks are part of the repository" in complaint(capsys, "bench")
