"""Clients that leave a fleet in the middle of a request: what they asked for ends, and others are answered right."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.fleet.fleet import Api, Fleet, running_fleet, until

Json = dict[str, Any]

TEST = {"type": "stdin", "input": "1\n", "output": "2\n"}
QUICK: Json = {"code": "print(int(input()) + 1)", "tests": [TEST]}
LONG: Json = {"code": "import time; time.sleep(1); print(2)", "tests": [TEST] * 60, "isolation": "test"}
"""A minute of work: it is over soon only if it is cancelled."""

SUITE = json.dumps({"tests": [TEST | {"input": "1\n" + "x" * 5000}]}).encode()
REQUESTS: dict[str, tuple[str, str, bytes]] = {
    "one": ("POST", "/v1/grade", json.dumps(LONG).encode()),
    "a batch": ("POST", "/v1/grade/batch", json.dumps({"submissions": [QUICK] * 3 + [LONG] * 20}).encode()),
    "a foreign request": (
        "POST",
        "/run_code",
        json.dumps({"code": LONG["code"] * 9, "language": "python", "run_timeout": 60}).encode(),
    ),
    "a suite": ("PUT", f"/v1/suites/{hashlib.sha256(SUITE).hexdigest()}", SUITE),
}
STAGES = ("in the head", "in the body", "at once", "while it is graded", "in the answer")


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with running_fleet(apis=2, workers=1) as running:
        yield running


@pytest.mark.parametrize("resets", [False, True], ids=["closed", "reset"])
def test_nothing_is_left_of_those_who_leave(fleet: Fleet, resets: bool) -> None:
    with neighbours(fleet) as answers:
        for stage in STAGES:
            left = [connect(api, *request) for api in fleet.apis for request in parts(stage)]
            if stage == "while it is graded":
                until(lambda: any(api.status()["busy"] for api in fleet.apis), "it is graded")
            for connection in left:
                if stage == "in the answer":
                    assert connection.recv(1)
                if resets:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
    assert answers
    assert [each for each in answers if each != (200, "AC")] == []
    for api in fleet.apis:
        until(lambda api=api: is_idle(api), "nothing is pending, and no slot is busy", 20)  # type: ignore[misc]


def parts(stage: str) -> list[tuple[bytes, bytes]]:
    """What is sent before the client leaves: the head, and the body."""
    if stage == "in the answer":  # of these, only a batch says anything before all is graded
        return [sent(*REQUESTS["a batch"])]
    requests = [sent(*request) for request in REQUESTS.values()]
    if stage == "in the head":
        return [(head[: len(head) // 2], b"") for head, _ in requests]
    if stage == "in the body":
        return [(head, body[: len(body) // 2]) for head, body in requests]
    return requests


def sent(method: str, path: str, body: bytes) -> tuple[bytes, bytes]:
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode(), body


def connect(api: Api, head: bytes, body: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", api.port), timeout=30)
    connection.sendall(head + body)
    return connection


@contextmanager
def neighbours(fleet: Fleet) -> Iterator[list[tuple[int, str]]]:
    """A client of each API process that grades all the while; what both were told."""
    over, told = threading.Event(), list[tuple[int, str]]()

    def grade(post: Callable[..., tuple[int, Any]]) -> None:
        while not over.wait(0.05):
            status, answer = post("/v1/grade", QUICK)
            told.append((status, answer.get("verdict", str(answer))))

    threads = [threading.Thread(target=grade, args=(api.client.post,)) for api in fleet.apis]
    for thread in threads:
        thread.start()
    try:
        yield told
    finally:
        over.set()
        for thread in threads:
            thread.join()


def is_idle(api: Api) -> bool:
    status = api.status()
    return bool(status["busy"] == status["pending"]["submissions"] == 0)


def test_who_leaves_while_polling_finds_the_answer_later(fleet: Fleet) -> None:
    one, other = fleet.apis
    slow = QUICK | {"id": "polled", "code": "import time; time.sleep(0.5)\n" + QUICK["code"]}
    assert one.client.post("/v1/submissions", slow)[0] == 202
    connect(one, *sent("GET", "/v1/submissions/polled?wait=30", b"")).close()
    status, answer = other.client.get("/v1/submissions/polled?wait=30")
    assert (status, answer["verdict"]) == (200, "AC")
