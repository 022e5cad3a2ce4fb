"""A minimal OpenAI-compatible endpoint in a thread: gives scripted answers and records its requests."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Act = tuple[int, dict[str, str], bytes]  # status, headers, body
PATH = "/v1/chat/completions"


def refusal(status: int, message: str, **headers: str) -> Act:
    """An error in the words of OpenAI and vLLM."""
    return status, headers, json.dumps({"error": {"message": message}}).encode()


def completion(text: str | None, finish: str = "stop") -> Act:
    """A completion."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return 200, {}, json.dumps({"choices": [choice], "usage": {"completion_tokens": len(text or "")}}).encode()


@dataclass
class Endpoint:
    """`say` answers a request's body; `acts` replace the answers to the next requests."""

    say: Callable[[Json], Act] = lambda _: completion("yes")
    acts: list[Act] = field(default_factory=list)
    seconds: float = 0.0
    asked: list[Json] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    most_at_once: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0

    def answer(self, path: str, key: str, body: Json) -> Act:
        """The answer to a request."""
        if path != PATH:
            return refusal(404, f"there is no {path}")
        with self._lock:
            self.asked.append(body)
            self.keys.add(key)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            act = self.acts.pop(0) if self.acts else None
        time.sleep(self.seconds)
        with self._lock:
            self._now -= 1
        return act or self.say(body)


@contextmanager
def serving(endpoint: Endpoint, port: int = 0) -> Iterator[Endpoint]:
    """Serve until the end of the block; sets `url`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = endpoint.answer(self.path, self.headers.get("Authorization", ""), body)
            try:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                self.close_connection = True  # who asked has gone

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
