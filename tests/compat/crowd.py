"""Many clients at once, clients that go away, and slots that die: what routes for impatient clients have to bear."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psutil

from tests.conftest import Service

PATIENCE_SECONDS = 20.0


def at_once(service: Service, path: str, bodies: list[dict[str, Any]]) -> list[tuple[int, Any]]:
    """The answers to requests that are all sent at the same time."""
    with ThreadPoolExecutor(len(bodies)) as threads:
        return list(threads.map(lambda body: service.client.post(path, body), bodies))


@contextmanager
def impatient(service: Service, path: str, body: dict[str, Any]) -> Iterator[None]:
    """A client that has asked, and goes away at the end without having read an answer."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        yield


def pending(service: Service) -> int:
    """How many submissions wait or are being graded."""
    return int(service.client.get("/v1/status")[1]["pending"]["submissions"])


def until_pending(service: Service, count: int, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until so many are pending."""
    end = time.monotonic() + seconds
    while (found := pending(service)) != count:
        assert time.monotonic() < end, f"{found} are pending, not {count}"
        time.sleep(0.02)


@contextmanager
def dying_slots(service: Service) -> Iterator[None]:
    """Every slot is killed as soon as it has something in hand."""
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.2):
            if service.client.get("/v1/status")[1]["busy"]:
                for child in psutil.Process(service.process.pid).children():
                    if is_slot(child):
                        child.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def is_slot(process: psutil.Process) -> bool:
    try:
        return "sandbox_service.slot" in process.cmdline()
    except psutil.NoSuchProcess:
        return False
