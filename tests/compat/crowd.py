"""Load for the compatibility routes: many clients at once, clients that disconnect, and slots that die."""

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
from tests.processes import is_slot

PATIENCE_SECONDS = 20.0


def at_once(service: Service, path: str, bodies: list[dict[str, Any]]) -> list[tuple[int, Any]]:
    """Return the answers to requests that are sent at the same time."""
    with ThreadPoolExecutor(len(bodies)) as threads:
        return list(threads.map(lambda body: service.client.post(path, body), bodies))


@contextmanager
def impatient(service: Service, path: str, body: dict[str, Any]) -> Iterator[None]:
    """Send a request and disconnect at the end without reading an answer."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        yield


def pending(service: Service) -> int:
    """Return the number of pending submissions."""
    return int(service.client.get("/v1/status")[1]["pending"]["submissions"])


def until_pending(service: Service, count: int, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until this many submissions are pending."""
    end = time.monotonic() + seconds
    while (found := pending(service)) != count:
        assert time.monotonic() < end, f"{found} are pending, not {count}"
        time.sleep(0.02)


@contextmanager
def dying_slots(service: Service) -> Iterator[None]:
    """Kill every slot as soon as it is busy."""
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
