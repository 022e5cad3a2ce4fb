"""Starts the simulated fleet and reads its counters."""

from __future__ import annotations

import argparse
import contextlib
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import redis as blocking_redis

from benchmarks.contenders.base import UnavailableError
from benchmarks.service import free_port
from benchmarks.simulation.members import Member, end, end_with_us
from benchmarks.simulation.network import START_SECONDS, Network, apart, can_be_apart
from benchmarks.simulation.orders import Figures
from benchmarks.simulation.scenario import RATE, SLOTS


@dataclass(frozen=True)
class Look:
    """Counters at one moment, or their differences."""

    seconds: float
    redis: float
    apis: float
    work: float
    answered: int
    commands: int
    calls: int
    bytes_in: int
    bytes_out: int

    def __sub__(self, before: Look) -> Look:
        return Look(*(getattr(self, name) - getattr(before, name) for name in self.__dataclass_fields__))


class Fleet:
    """Redis, API processes and workers."""

    def __init__(self, stack: contextlib.ExitStack, arguments: Sequence[str]) -> None:
        self._stack = stack
        self.workers = 0
        self.apis: list[Member] = []
        self.hosts: list[Member] = []
        self.spread = can_be_apart()
        self._network = Network(self._start([*apart(), "sleep", "infinity"])) if self.spread else None
        self._start_redis(arguments)

    @property
    def slots(self) -> int:
        """Return the number of slots of all workers."""
        return self.workers * SLOTS

    @property
    def common_mean(self) -> float:
        """Return the seconds that a slot must sleep so that all slots together have the common rate."""
        return self.slots / self.rate

    def add_api(self) -> None:
        """Start an API process."""
        [api] = self._members("api", 1)
        api.say("begin", url=self.url)
        api.hear()
        self.apis.append(api)

    def add_workers(self, count: int, each: int) -> None:
        """Start workers, `each` in a process."""
        counts = [min(each, count - at) for at in range(0, count, each)]
        hosts = self._members("workers", len(counts))
        for host, own in zip(hosts, counts, strict=True):
            host.say("begin", url=self.url, count=own)
        for host in hosts:
            host.hear()
        self.hosts += hosts
        self.workers += count

    def ask(self, members: Sequence[Member], what: str, **values: object) -> list[Figures]:
        """Send a request to some processes and return their answers."""
        for member in members:
            member.say(what, **values)
        return [member.hear() for member in members]

    def ask_all(self, what: str, **values: object) -> list[Figures]:
        """Send a request to all processes and return their answers."""
        return self.ask([*self.apis, *self.hosts], what, **values)

    def mean(self, seconds: float) -> None:
        """Set the mean seconds that slots sleep."""
        self.ask(self.hosts, "mean", seconds=seconds)

    def spans(self) -> list[Figures]:
        """Return what the slots did since the last call."""
        return self.ask(self.hosts, "spans")

    def memory(self) -> int:
        """Return the bytes that Redis uses."""
        return int(self.redis.info("memory")["used_memory"])

    def look(self) -> Look:
        """Return all counters."""
        apis, hosts = self.ask(self.apis, "figures"), self.ask(self.hosts, "figures")
        info = self.redis.info()
        return Look(
            seconds=time.monotonic(),
            redis=info["used_cpu_user"] + info["used_cpu_sys"],
            apis=sum(each["cpu"] for each in apis),
            work=sum(each["cpu"] for each in hosts),
            answered=sum(each["answered"] for each in apis),
            commands=info["total_commands_processed"],
            calls=info["total_reads_processed"],
            bytes_in=info["total_net_input_bytes"],
            bytes_out=info["total_net_output_bytes"],
        )

    def _members(self, role: str, count: int) -> list[Member]:
        members = [Member(role) for _ in range(count)]
        for member in members:
            self._stack.callback(end, member.process)
        for member in members:
            if self._network:
                self._network.join(member.process.pid)
        return members

    def _start(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=end_with_us)
        self._stack.callback(end, process)
        return process

    def _start_redis(self, arguments: Sequence[str]) -> None:
        if shutil.which("redis-server") is None:
            raise UnavailableError("redis-server is not installed: apt-get install redis-server")
        folder, port = self._stack.enter_context(tempfile.TemporaryDirectory()), free_port()
        socket, password = f"{folder}/redis.sock", secrets.token_hex(8)
        command = ["redis-server", "--port", str(port), "--unixsocket", socket, "--dir", folder, "--save", ""]
        command += ["--requirepass", password, "--maxclients", "20000", "--loglevel", "warning", *arguments]
        waiting = ["sh", "-c", 'read -r _; exec "$@"', "sh"]
        process = self._start([*apart(), *waiting, *command])
        host = self._network.join(process.pid) if self._network else "127.0.0.1"
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        self.url = f"redis://:{password}@{host}:{port}/0"
        self.redis: Any = blocking_redis.Redis(unix_socket_path=socket, password=password)
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(blocking_redis.RedisError):
                self.redis.ping()
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise UnavailableError("redis-server did not start")
            time.sleep(0.02)

    rate = RATE


@contextlib.contextmanager
def fleet(workers: int, options: argparse.Namespace) -> Iterator[Fleet]:
    """Start a fleet, and end it. Raises UnavailableError."""
    with contextlib.ExitStack() as stack:
        here = Fleet(stack, ["--appendonly", "yes" if options.aof else "no"])
        here.rate = options.rate
        for _ in range(options.apis):
            here.add_api()
        here.add_workers(workers, options.together)
        yield here
        for member in [*here.apis, *here.hosts]:
            member.process.kill()  # all at once, before any notices that others are gone
