"""Forty and more wrong uses: what is said, and the exit status or HTTP status. None ends with a traceback.

Commands run in this process. Those that would serve are given settings with which they must not begin to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox_service import cli
from sandbox_service.commands import grade_input, remote_grading, serve, trainer, worker
from tests.conftest import need_firejail
from tests.markers import one_in
from tests.pages.world import Stage, stage
from tests.ports import free_port
from tests.redis_server import running_redis

TEST = {"type": "stdin", "input": "1 2\n", "output": "3\n"}
FILES: dict[str, str | bytes] = {
    "problem.json": json.dumps({"tests": [TEST]}),
    "untyped.json": json.dumps({"tests": [TEST, {"input": "1"}]}),
    "empty.json": "",
    "lone.json": '{"tests": [{"type": "stdin", "output": "\\ud800"}]}',
    "broken.json": "{",
    "deep.json": "[" * 100_000,
    "rows.jsonl": '{"a": 1}\n{"a": 2}\n',
    "right.py": "print(3)",
    "right.cobol": "DISPLAY 3.",
    "binary.py": b"\xff\xfe\x00",
    "no_key": "# nothing\n",
    "wrong_key": "key submissions=x\n",
    "no_password": "",
    "password": "secret",
    "typo.toml": 'name = "x"\n[[source]]\npath = "a"\n',
    "broken.toml": "name =",
    "absent.toml": 'name = "x"\n[[sources]]\npath = "absent.jsonl"\n',
    "hub.toml": 'name = "x"\n[[sources]]\npath = "owner/name"\nsplit = "test"\n',
    "reader.toml": 'name = "x"\n[[sources]]\npath = "rows.jsonl"\nreader = "nonsense"\n',
    "kind.toml": 'name = "x"\n[[sources]]\npath = "right.py"\n',
    "rows.toml": 'name = "x"\n[[sources]]\npath = "rows.jsonl"\n',
}
AWAY = "http://127.0.0.1:1"
REDIS = "redis://localhost"


class Wrong(NamedTuple):
    """A command line, settings, and words that must be said. `prints_usage`: argparse refuses it."""

    command: str
    said: str
    settings: Mapping[str, str] = {}
    prints_usage: bool = False


COMMANDS = [
    Wrong("", "the following arguments are required: COMMAND", prints_usage=True),
    Wrong("sevre", "invalid choice: 'sevre' (choose from 'serve', 'worker'", prints_usage=True),
    Wrong("serve --port many", "argument --port: invalid int value: 'many'", prints_usage=True),
    Wrong("doctor --jsn", "unrecognized arguments: --jsn", prints_usage=True),
    Wrong("grade", "the following arguments are required: problem", prints_usage=True),
    Wrong("tail -n many", "argument -n/--count: invalid int value", prints_usage=True),
    Wrong("validate", "the following arguments are required: recipe", prints_usage=True),
    # settings
    Wrong("serve --port 70000", "SANDBOX_PORT should be less than or equal to 65535"),
    Wrong("serve", "SANDBOX_SLOT is not known (proctor serve --settings lists them all)", {"SANDBOX_SLOT": "2"}),
    Wrong("serve", "SANDBOX_SLOTS should be an integer", {"SANDBOX_SLOTS": "two"}),
    Wrong("serve", "SANDBOX_LOG_LEVEL should be 'debug', 'info', 'warning' or", {"SANDBOX_LOG_LEVEL": "loud"}),
    Wrong("serve", "SANDBOX_RECHECK_SHARE should be less than or equal to 1", {"SANDBOX_RECHECK_SHARE": "2"}),
    Wrong("serve", "SANDBOX_API_KEYS_FILE: absent: No such file", {"SANDBOX_API_KEYS_FILE": "absent"}),
    Wrong("serve", "SANDBOX_API_KEYS_FILE: no_key has no key in it", {"SANDBOX_API_KEYS_FILE": "no_key"}),
    Wrong("serve", "line 1: submissions=x should be a number", {"SANDBOX_API_KEYS_FILE": "wrong_key"}),
    Wrong("serve", "no isolation tool 'docker'; there is: firejail, bubblewrap", {"SANDBOX_ISOLATION": "docker"}),
    Wrong("serve", "SANDBOX_CPU_FACTORS should be language=factor", {"SANDBOX_CPU_FACTORS": "java=fast"}),
    Wrong("serve", "SANDBOX_CPU_FACTORS names a language twice", {"SANDBOX_CPU_FACTORS": "java=1,java=2"}),
    Wrong("serve", "SANDBOX_CPU_FACTORS names 'cobol', which is no language", {"SANDBOX_CPU_FACTORS": "cobol=2"}),
    Wrong("serve", "no interpreter for submissions at /absent/python3", {"SANDBOX_PYTHON": "/absent/python3"}),
    Wrong("serve", "SANDBOX_JUDGE_LIBRARIES: absent is no folder", {"SANDBOX_JUDGE_LIBRARIES": "absent"}),
    Wrong("serve", "no HTTP header can carry", {"SANDBOX_API_KEYS": "two words"}),
    Wrong("serve", "SANDBOX_ADMIN_KEYS: a key has a space, or", {"SANDBOX_ADMIN_KEYS": "clé"}),
    Wrong("serve", "SANDBOX_ADMIN_KEYS has no key in it; to serve without keys", {"SANDBOX_ADMIN_KEYS": ","}),
    Wrong("serve", "SANDBOX_API_KEYS has no key in it; to serve without keys", {"SANDBOX_API_KEYS": " ,"}),
    Wrong("serve", "SANDBOX_SLOTS should be less than or equal to 2000", {"SANDBOX_SLOTS": "5000"}),
    Wrong("serve", "2000 slots need 192000 MiB without any program", {"SANDBOX_SLOTS": "2000"}),
    Wrong("serve", "SANDBOX_FIRST_UID should be less than or equal to", {"SANDBOX_FIRST_UID": "4294967290"}),
    Wrong("serve", "SANDBOX_HOSTS has 'http://example.org'; give names", {"SANDBOX_HOSTS": "http://example.org"}),
    Wrong("serve", "SANDBOX_HOSTS has '*'; give names", {"SANDBOX_HOSTS": "example.org,*"}),
    Wrong("serve", "SANDBOX_CALLBACK_HOSTS has '*.a'; give names", {"SANDBOX_CALLBACK_HOSTS": "*.a"}),
    Wrong("serve", "SANDBOX_CALLBACK_HOSTS has 'a:b'", {"SANDBOX_CALLBACK_HOSTS": "a:b", "SANDBOX_REDIS_URL": REDIS}),
    Wrong("serve", "SANDBOX_CACHE_FOLDER: right.py/x is no folder", {"SANDBOX_CACHE_FOLDER": "right.py/x"}),
    Wrong("serve", "SANDBOX_API_KEYS_FILE: .: Is a directory", {"SANDBOX_API_KEYS_FILE": "."}),
    Wrong("serve", "SANDBOX_API_KEYS_FILE: /dev/zero has more than", {"SANDBOX_API_KEYS_FILE": "/dev/zero"}),
    Wrong("serve", "SANDBOX_API_KEYS_FILE: binary.py: not UTF-8", {"SANDBOX_API_KEYS_FILE": "binary.py"}),
    Wrong("serve", "SANDBOX_MEMORY_BYTES is 1, and one program needs", {"SANDBOX_MEMORY_BYTES": "1"}),
    Wrong(
        "serve", "SANDBOX_LIBRARIES names '/etc/passwd', which is not a library", {"SANDBOX_LIBRARIES": "/etc/passwd"}
    ),
    Wrong("serve --host=", "SANDBOX_HOST should have at least 1 character"),
    Wrong("serve --host 256.1.1.1", "cannot listen on 256.1.1.1 port"),
    Wrong("serve", "firejail is not at right.py; to mend it: apt-get", {"SANDBOX_ISOLATION_PROGRAM": "right.py"}),
    Wrong("serve", "firejail is not at /; to mend it: apt-get", {"SANDBOX_ISOLATION_PROGRAM": "/"}),
    Wrong("serve", "ls --version does not name firejail and a version", {"SANDBOX_ISOLATION_PROGRAM": "/bin/ls"}),
    # Redis
    Wrong("worker", "a worker takes its jobs from Redis: set SANDBOX_REDIS_URL"),
    Wrong("serve", "it begins with none of redis://, rediss://", {"SANDBOX_REDIS_URL": "localhost:6379"}),
    Wrong("serve", "SANDBOX_REDIS_URL: Port could not be cast", {"SANDBOX_REDIS_URL": f"{REDIS}:port"}),
    Wrong("serve", "it has no host; use redis://[:password@]host", {"SANDBOX_REDIS_URL": "redis://"}),
    Wrong("serve", "the database 'one' should be a number", {"SANDBOX_REDIS_URL": f"{REDIS}/one"}),
    Wrong("serve", "there should be the name of the master", {"SANDBOX_REDIS_URL": "redis+sentinel://a:1"}),
    Wrong(
        "serve",
        "SANDBOX_REDIS_URL has a password already; give one",
        {"SANDBOX_REDIS_URL": "redis://:a@localhost", "SANDBOX_REDIS_PASSWORD_FILE": "password"},
    ),
    Wrong(
        "serve",
        "SANDBOX_REDIS_PASSWORD_FILE: no_password is empty",
        {"SANDBOX_REDIS_URL": REDIS, "SANDBOX_REDIS_PASSWORD_FILE": "no_password"},
    ),
    Wrong("serve", "SANDBOX_REDIS_NAME should match", {"SANDBOX_REDIS_URL": REDIS, "SANDBOX_REDIS_NAME": "a b"}),
    # files and addresses
    Wrong("grade problem.json", "name the programs to grade"),
    Wrong("grade absent.json right.py", "absent.json: No such file or directory"),
    Wrong("grade empty.json right.py", "empty.json: not JSON"),
    Wrong("grade broken.json right.py", "broken.json: not JSON"),
    Wrong("grade deep.json right.py", "deep.json: the JSON is nested too deeply"),
    Wrong("grade problem.json .", ".: Is a directory"),
    Wrong("grade problem.json /dev/zero", "/dev/zero: more than 1 MiB"),
    Wrong("grade /dev/zero right.py", "/dev/zero: more than 1 MiB"),
    Wrong("validate /dev/zero", "/dev/zero: more than 16 MiB"),
    Wrong("strengthen /dev/zero", "/dev/zero: more than 16 MiB"),
    Wrong("grade lone.json right.py", "lone.json: a text has a lone surrogate, which UTF-8 cannot carry"),
    Wrong("grade untyped.json right.py", "tests[1] needs a `type`: stdin, call, assert or interactive"),
    Wrong("grade rows.jsonl right.py", "no reader knows rows with the fields a; name one of: problem, labelled"),
    Wrong("grade problem.json absent.py", "absent.py: No such file or directory"),
    Wrong("grade problem.json binary.py", "binary.py: not UTF-8: invalid start byte at byte 0"),
    Wrong("grade . right.py", "not a problem package: there is none of problem.yaml"),
    Wrong("grade problem.json right.py --id 5", "the file is one problem, not a data set; remove --id"),
    Wrong("grade problem.json right.py --jobs 0", "--jobs: must be at least 1"),
    Wrong("grade problem.json right.py --url ftp://x", "--url ftp://x: not an address like http://127.0.0.1:8080"),
    Wrong("grade problem.json right.py --url " + AWAY, "is the service running? (proctor serve)"),
    Wrong(
        f"grade problem.json right.py --url {AWAY}",
        "PROCTOR_API_KEY: no HTTP header can carry its characters",
        {"PROCTOR_API_KEY": "key\n"},
    ),
    Wrong(f"top --once --url {AWAY}", "does not answer: Connection refused; is the service running?"),
    Wrong("tail -n 0", "-n/--count: must be between 1 and 400"),
    Wrong("tail --url localhost", "--url localhost: not an address like http://127.0.0.1:8080"),
    Wrong("tail --url http://any:KEY@localhost", "--url: remove the part before @, and put the key into PROCTOR"),
    Wrong("grade problem.json right.cobol", "right.cobol: no language has the suffix .cobol; give the problem a"),
    Wrong("validate absent.toml.txt", "absent.toml.txt: No such file or directory"),
    Wrong("validate broken.toml", "broken.toml: not TOML"),
    Wrong("validate typo.toml", "typo.toml: sources is missing; source is not known"),
    Wrong("validate absent.toml", "absent.jsonl: no such file or folder, and not a name on the hub"),
    Wrong("validate hub.toml", "owner/name: the recipe names no revision of it"),
    Wrong("validate reader.toml", "rows.jsonl: no reader 'nonsense'; there are: problem,"),
    Wrong("validate kind.toml", "right.py: unknown kind of file; known are"),
    Wrong("validate rows.toml --limit 0", "--limit: must be at least 1"),
    Wrong("validate rows.toml --output right.py", "cannot write to the output folder right.py: File exists"),
    Wrong("strengthen typo.toml", "typo.toml: sources is missing; source is not known"),
    Wrong("train absent.toml", "the trainer needs torch, vllm: pip install 'proctor[trainer]'"),
    Wrong("evaluate", "the trainer needs rich: pip install rich, or"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the files, with default settings and short waits; nothing that serves may begin."""
    for name in [name for name in os.environ if name.startswith(("SANDBOX_", "PROCTOR_API"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.setattr(remote_grading, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(grade_input, "MOST_BYTES", 1 << 20)
    for module, name in ((serve._Server, "run"), (worker, "_work")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it began to work"))
    monkeypatch.setattr(trainer, "find_spec", lambda name: None if name in ("vllm", "torch", "rich") else object())
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], command: str) -> str:
    """Run a command that must be refused; what it says on stderr."""
    try:
        status = cli.main(command.split())
    except SystemExit as ended:
        status = int(ended.code or 0)
    printed = capsys.readouterr()
    assert status == cli.USAGE_ERROR
    assert "Traceback" not in printed.out + printed.err
    return printed.err


@pytest.mark.parametrize("wrong", one_in(2, COMMANDS), ids=lambda wrong: f"{wrong.command} {' '.join(wrong.settings)}")
def test_a_wrong_command_is_refused_in_words(
    wrong: Wrong, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrong.command.startswith(("serve", "worker", "validate rows", "validate kind", "validate reader")):
        need_firejail()
    for name, value in {"SANDBOX_PORT": str(free_port()), **wrong.settings}.items():
        monkeypatch.setenv(name, value)
    text = said(capsys, wrong.command)
    assert wrong.said in text
    assert text.startswith("usage: ") == wrong.prints_usage
    last = text.splitlines()[-1]
    assert last.startswith("proctor")
    assert len(last) < 500


@pytest.mark.parametrize(
    ("url", "expected"),
    [("redis://127.0.0.1:{port}", "refuses its password"), ("redis://:wrong@127.0.0.1:{port}", "refuses its password")],
)
def test_a_wrong_password_of_redis_is_said_with_the_address(
    url: str, expected: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_redis("--requirepass", "right") as redis:
        monkeypatch.setenv("SANDBOX_REDIS_URL", url.format(port=redis.port))
        monkeypatch.setenv("SANDBOX_PORT", str(free_port()))
        text = said(capsys, "serve")
        assert f"the Redis at 127.0.0.1:{redis.port} {expected}" in text
        assert "SANDBOX_REDIS_PASSWORD_FILE" in text
        assert "wrong@" not in text


def test_a_database_that_redis_does_not_have_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_redis() as redis:
        monkeypatch.setenv("SANDBOX_REDIS_URL", f"redis://127.0.0.1:{redis.port}/99")
        monkeypatch.setenv("SANDBOX_PORT", str(free_port()))
        text = said(capsys, "serve")
        assert f"SANDBOX_REDIS_URL: 127.0.0.1:{redis.port}: DB index is out of range" in text


def test_settings_are_listed_where_one_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_SLOT", "2")
    assert cli.main(["serve", "--settings"]) == 0
    assert "SANDBOX_SLOTS" in capsys.readouterr().out


PLAIN: dict[str, Any] = {"code": "print(3)", "tests": [TEST]}
BODIES: list[tuple[str, str, object, int, str]] = [
    ("POST", "/v1/grade", b"", 422, "body is not JSON"),
    ("POST", "/v1/grade", b"{'code': 1}", 422, "body is not JSON"),
    ("POST", "/v1/grade", [], 422, "body should be an object"),
    ("POST", "/v1/grade", {"tests": [TEST]}, 422, "give exactly one of code and completion"),
    ("POST", "/v1/grade", PLAIN | {"tests": []}, 422, "tests"),
    ("POST", "/v1/grade", PLAIN | {"tests": [TEST, {}]}, 422, "tests[1] needs a `type`: stdin, call, assert or"),
    ("POST", "/v1/grade", PLAIN | {"tests": [{"type": "stdout"}]}, 422, "tests[0] has an unknown `type`; use stdin"),
    ("POST", "/v1/grade", PLAIN | {"cpu": 1}, 422, "cpu is not known"),
    ("POST", "/v1/grade", PLAIN | {"limits": {"cpu_seconds": "1s"}}, 422, "limits.cpu_seconds should be a number"),
    ("POST", "/v1/grade", PLAIN | {"limits": {"cpu_seconds": 1e4}}, 422, "limits.cpu_seconds is 10000, the most is"),
    ("POST", "/v1/grade", PLAIN | {"language": "cobol"}, 422, "language 'cobol' is not supported; there is: python"),
    ("POST", "/v1/grade", PLAIN | {"checker": {"type": "fuzzy"}}, 422, "checker.type should be"),
    ("POST", "/v1/grade", PLAIN | {"labels": {"priority": "urgent"}}, 422, "labels.priority is 'urgent'; should be"),
    ("POST", "/v1/grade", {"code": "", "suite": "sha256:" + "0" * 64}, 409, "is not known here: PUT /v1/suites/"),
    ("POST", "/v1/grade/batch", {"submissions": [PLAIN, {"code": 1}]}, 422, "submissions[1]: code should be a string"),
    ("POST", "/v1/grade/batch", {"submissions": [PLAIN | {"id": "a"}] * 2}, 422, "of the batch have the id 'a'"),
    ("PUT", "/v1/suites/" + "0" * 64, {"tests": [TEST]}, 422, "sha256"),
    ("GET", "/v1/submissions/absent", None, 404, "no submission 'absent': the id is unknown, or its answer has"),
    ("GET", "/v1/submissions/absent?wait=long", None, 422, "wait should be a number"),
    ("DELETE", "/v1/submissions?label=step", None, 422, "label is 'step'; give name=value"),
    ("GET", "/v1/recent?verdict=ok", None, 422, "verdict should be"),
    ("GET", "/v1/grade", None, 405, "GET is not possible here; use POST"),
    ("GET", "/v1/grades", None, 404, "no route has the path '/v1/grades'; /docs lists the routes"),
]


@pytest.fixture(scope="module")
def scene() -> Iterator[Stage]:
    with stage() as running:
        yield running


@pytest.mark.parametrize(("method", "path", "body", "status", "words"), BODIES)
def test_a_wrong_request_is_refused_in_words(
    scene: Stage, method: str, path: str, body: object, status: int, words: str
) -> None:
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    found, answer = scene.client.request(method, path, data)
    assert found == status, answer
    error = json.loads(answer)["error"]
    assert words in error["message"]
    assert not {"Traceback", "pydantic", "discriminator"} & set(error["message"].split())


def test_load_balancers_may_send_head(scene: Stage) -> None:
    assert [scene.client.request("HEAD", path, None) for path in ("/healthz", "/readyz")] == [(200, b"")] * 2


def test_there_are_forty() -> None:
    assert len(COMMANDS) >= 40
    assert len(BODIES) >= 20
