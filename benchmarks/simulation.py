"""What does a submission cost as a fleet grows? One real Redis, real API-side queues, N real workers whose slots sleep.

Everything that speaks to Redis is the service's own: Intake and RqQueue, Worker and Pump, the ledger and RQ. Not here
are HTTP and grading. Workers live many to a process, each with its own connections and its own RQ thread; each process
has a network namespace of its own on one bridge, so that what it says to Redis is TCP between hosts.

This machine cannot feed two thousand slots at the speed of real ones, so the rate is about the same for every N, and
the slots are as slow as that takes: what is shown is what a submission costs with N workers, and what N cost idle.

    python -m benchmarks simulation                          1, 10, 100 and 1,000 workers of two slots: the table
    python -m benchmarks simulation --workers 100 --profile  which calls Redis spends its time on
    python -m benchmarks simulation --memory                 what Redis keeps for a submission and for an answer

CPU is each process's own. A submission of this is 1.5 kB of code, in a group of 8 or 16 that share a suite of ten
tests, in a batch of 64; its answer is 2 kB.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import hashlib
import itertools
import json
import logging
import os
import random
import re
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import redis as blocking_redis

from benchmarks import procs
from benchmarks.contenders.base import Unavailable
from benchmarks.service import free_port
from sandbox_service import bootstrap
from sandbox_service.api.intake import Intake
from sandbox_service.hands import Pump
from sandbox_service.ledger import scripts
from sandbox_service.queues.base import Ticket
from sandbox_service.queues.rq import RqQueue
from sandbox_service.schema import Grade, TestResult, Timing, Verdict
from sandbox_service.settings import Settings
from sandbox_service.slots import Owner, SlotFactory
from sandbox_service.suites import Suite
from sandbox_service.worker import Worker

REPOSITORY = Path(__file__).resolve().parent.parent
SIZES = [1, 10, 100, 1000]
SLOTS = 2
TO_A_PROCESS = 50
RATE = 400.0  # submissions a second, about
HELD = 6  # submissions for each slot that are on their way: a worker holds four, so two wait
LEAST_HELD = 256
BATCH = 64
GROUPS = (8, 16)
TESTS = 10
CODE_BYTES = 1500
REAL_SECONDS = 0.15  # of grading, for what is not measured at the common rate
SPREAD = 0.5  # times are uniform within this share of their mean
START_SECONDS = 180.0
REGISTER_SECONDS = 0.01  # between two workers of a process: they do not come all at once
SETTLE_SECONDS = 6.0  # longer than RQ's wait for a job
PROFILE_SECONDS = 4.0
FILL_SECONDS = 60.0  # within which all slots should have something to do
NETWORK = "10.77"
PR_SET_PDEATHSIG = 1
STAMP = re.compile(rb"@(\d+\.\d+)@")
EVERYTHING = 1 << 30  # a bound that is none
REPLY_LIMIT = 1 << 28  # bytes of one line from a process of ours
Figures = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Run what is asked for, and print its tables; or be one of the processes of another run."""
    options = _options(arguments)
    if options.role:
        logging.disable(logging.CRITICAL)
        asyncio.run({"api": _be_api, "workers": _be_workers}[options.role]())
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        if options.memory:
            memory(options)
        else:
            grow(options)
    except Unavailable as reason:
        print(f"cannot run: {reason}")
        return 2
    return 0


# --- what is measured


@dataclass
class Measured:
    """All that is known of one size of fleet. `idle`: CPU seconds a second of Redis, the APIs, and one worker."""

    workers: int
    idle: list[float] = field(default_factory=list)
    rate: float = 0.0
    costs: list[float] = field(default_factory=list)  # CPU ms a submission: Redis, API, worker
    commands: float = 0.0
    calls: float = 0.0  # what came over the network, without what scripts did by themselves
    bytes_in: float = 0.0
    bytes_out: float = 0.0
    waits: list[float] = field(default_factory=list)  # seconds from submission to the slot, while slots are idle
    busy: float = 0.0  # share of the slots' time in a batch of two for each
    tail: float = 0.0  # from the first slot without work to the last answer of it, in times of the longest grading
    connections: int = 0
    answered: int = 0
    faults: int = 0


def grow(options: argparse.Namespace) -> None:
    """The table, a row for each number of workers."""
    rows = []
    for workers in options.workers:
        with fleet(workers, options) as here:
            rows.append(_measure(here, options))
    print(
        f"\nsimulated: {SLOTS} slots a worker, {options.apis} API, " + ("network namespaces" if here.spread else "lo")
    )
    _print_costs(rows)
    _print_waits(rows)


def _measure(here: Fleet, options: argparse.Namespace) -> Measured:
    found = Measured(here.workers)
    time.sleep(options.settle)
    _idle(here, found, options.seconds)
    if options.profile:
        _profile(here, "idle")
    _sparse(here, found, options.seconds)
    _batch(here, found)
    _load(here, found, options)
    sums = here.ask_all("figures")
    found.faults = int(sum(each.get("faults", 0) for each in sums))
    found.answered = int(sum(each.get("answered", 0) for each in sums))
    found.connections = here.redis.info("clients")["connected_clients"]
    return found


def _idle(here: Fleet, found: Measured, seconds: float) -> None:
    before = here.look()
    time.sleep(seconds)
    change = here.look() - before
    found.idle = [each / change.seconds for each in (change.redis, change.apis, change.work / here.workers)]


def _sparse(here: Fleet, found: Measured, seconds: float) -> None:
    """Small groups for a fleet of which most is idle."""
    here.mean(REAL_SECONDS)
    size = max(1, min(GROUPS[0], here.slots // 4))
    here.ask(here.apis[:1], "figures")
    here.spans()
    here.ask(here.apis[:1], "sparse", size=size, every=4 * REAL_SECONDS, times=round(seconds / REAL_SECONDS / 4 * 2))
    found.waits = sorted(wait for span in here.spans() for wait in span["waits"])


def _batch(here: Fleet, found: Measured) -> None:
    """One batch with two submissions for each slot: is the work shared?"""
    here.mean(here.common_mean)
    here.spans()
    here.ask(here.apis[:1], "batch", count=2 * here.slots)
    spans = [span for each in here.spans() for span in each["spans"]]
    begin, end = min(span[1] for span in spans), max(span[2] for span in spans)
    last_of = {span[0]: 0.0 for span in spans}
    for slot, _, ended in spans:
        last_of[slot] = max(last_of[slot], ended)
    first_dry = begin if len(last_of) < here.slots else min(last_of.values())
    found.busy = sum(ended - began for _, began, ended in spans) / (here.slots * (end - begin))
    found.tail = (end - first_dry) / (here.common_mean * (1 + SPREAD))


def _load(here: Fleet, found: Measured, options: argparse.Namespace) -> None:
    """Keep all slots busy, and measure for a while."""
    here.ask(here.apis, "load", outstanding=max(HELD * here.slots, LEAST_HELD) // len(here.apis))
    time.sleep(max(options.settle, 5 * here.common_mean))
    before = here.look()
    time.sleep(options.seconds)
    change = here.look() - before
    count = max(1, change.answered)
    found.rate = change.answered / change.seconds
    found.costs = [1000 * each / count for each in (change.redis, change.apis, change.work)]
    found.commands, found.calls = change.commands / count, change.calls / count
    found.bytes_in, found.bytes_out = change.bytes_in / count, change.bytes_out / count
    if options.profile:
        _profile(here, "busy")
    here.ask(here.apis, "drain")


def _profile(here: Fleet, when: str) -> None:
    """What Redis did for four seconds, from its slow log. To write that costs as well, so it is no part of the rest."""
    names = _names_of_scripts()
    here.redis.config_set("slowlog-max-len", 1_000_000)
    here.redis.slowlog_reset()
    before = here.look()
    here.redis.config_set("slowlog-log-slower-than", 0)
    time.sleep(PROFILE_SECONDS)
    here.redis.config_set("slowlog-log-slower-than", -1)
    change = here.look() - before
    calls, micros = Counter[str](), Counter[str]()
    for entry in here.redis.slowlog_get(1_000_000):
        if _is_of_a_script(entry["command"]):
            continue
        words = entry["command"].split(b" ", 3)
        name = words[0].decode().lower()
        if name == "evalsha":
            name = names.get(words[1].decode(), "a script of RQ's")
        calls[name] += 1
        micros[name] += entry["duration"]
    print(f"\n{here.workers} workers, {when}: {change.answered / change.seconds:.0f} submissions a second")
    print("| call | a second | µs | a submission | µs a submission | % of a core |")
    print("|---|---|---|---|---|---|")
    for name, spent in [*micros.most_common(14), ("all", micros.total())]:
        count = calls[name] if name in calls else calls.total()
        each = [count / change.answered, spent / change.answered] if change.answered else [0.0, 0.0]
        print(
            f"| {name} | {count / change.seconds:.1f} | {spent / max(1, count):.1f} | {each[0]:.3f} | {each[1]:.1f} "
            f"| {spent / change.seconds / 10_000:.2f} |"
        )


def _is_of_a_script(command: bytes) -> bool:
    """Whether only scripts do this to the ledger's keys; it is counted with the script."""
    return b" proctor:" in command and b":suite:" not in command and not command.startswith((b"XREAD", b"XTRIM"))


def _names_of_scripts() -> dict[str, str]:
    """The ledger's scripts by their digest."""
    folder = files("sandbox_service.ledger") / "scripts"
    prelude = (folder / "prelude.lua").read_text(encoding="utf-8")
    return {
        hashlib.sha1(scripts._with_prelude(file.read_text(encoding="utf-8"), prelude).encode()).hexdigest(): file.name
        for file in folder.iterdir()
        if file.name.endswith(".lua") and file.name != "prelude.lua"
    }


def memory(options: argparse.Namespace) -> None:
    """What Redis keeps for a submission that waits, and for an answer that may be asked for again."""
    count = 4096
    with fleet(0, options) as here:
        empty = here.memory()
        here.ask(here.apis, "load", outstanding=count)
        time.sleep(3.0)
        full = here.memory()
        suites = sum(here.redis.memory_usage(key) or 0 for key in here.redis.scan_iter("proctor:suite:*", 1000))
        print("| kept in Redis | bytes of a submission |")
        print("|---|---|")
        print(f"| while it waits, its share of the suite included | {(full - empty) / count:.0f} |")
        print(f"| … its share of the suite | {suites / count:.0f} |")
        here.add_workers(1, 1)
        here.mean(0.0001)
        here.ask(here.apis, "drain")
        time.sleep(SETTLE_SECONDS)
        print(f"| its answer, once it is answered | {(here.memory() - empty - suites) / count:.0f} |")


def _print_costs(rows: Sequence[Measured]) -> None:
    print("\n| workers | /s | Redis ms | API ms | workers ms | commands | calls | bytes in | bytes out | connections |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        costs = " | ".join(f"{each:.3f}" for each in row.costs)
        print(
            f"| {row.workers} | {row.rate:.0f} | {costs} | {row.commands:.1f} | {row.calls:.2f} | {row.bytes_in:.0f} "
            f"| {row.bytes_out:.0f} | {row.connections} |"
        )


def _print_waits(rows: Sequence[Measured]) -> None:
    print("\n| workers | idle: Redis % | API % | a worker % | wait p50 ms | p99 ms | busy | tail | answered | faults |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        idle = " | ".join(f"{100 * each:.2f}" for each in row.idle)
        p50, p99 = (1000 * row.waits[int(share * (len(row.waits) - 1))] for share in (0.5, 0.99))
        print(
            f"| {row.workers} | {idle} | {p50:.1f} | {p99:.1f} | {row.busy:.2f} | {row.tail:.2f} | {row.answered} "
            f"| {row.faults} |"
        )


# --- the fleet, from outside


@dataclass(frozen=True)
class Look:
    """Counters at one moment, or what they grew by."""

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


class Member:
    """A process of the fleet, to which one speaks in lines of JSON."""

    def __init__(self, role: str) -> None:
        self.process = subprocess.Popen(
            [*_apart(), sys.executable, "-m", "benchmarks", "simulation", "--role", role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            preexec_fn=_end_with_us,
        )

    def say(self, what: str, **values: object) -> None:
        """Ask for something."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(values | {"do": what}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Figures:
        """The answer to the oldest question."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("a process of the simulation has ended")
        found: Figures = json.loads(line)
        return found


class Network:
    """A bridge in a namespace without a name: it goes with the process that holds it."""

    def __init__(self, holder: subprocess.Popen[bytes]) -> None:
        self._holder = holder
        self._count = 0
        _wait_until_apart(holder.pid)
        self._ip(holder.pid, "link add br0 type bridge", "link set br0 up")

    def join(self, pid: int) -> str:
        """Connect a process that has a namespace of its own; its address."""
        _wait_until_apart(pid)
        self._count += 1
        address = f"{NETWORK}.{self._count // 250}.{self._count % 250 + 1}"
        port = f"port{self._count}"
        self._ip(self._holder.pid, f"link add {port} type veth peer name eth0 netns {pid}")
        self._ip(self._holder.pid, f"link set {port} master br0", f"link set {port} up")
        self._ip(pid, f"addr add {address}/16 dev eth0", "link set eth0 up", "link set lo up")
        return address

    @staticmethod
    def _ip(pid: int, *lines: str) -> None:
        subprocess.run(
            ["nsenter", "--target", str(pid), "--net", "ip", "-batch", "-"],
            input="\n".join(lines).encode(),
            check=True,
            stdout=subprocess.DEVNULL,
        )


def _apart() -> list[str]:
    return ["unshare", "--net"] if _can_be_apart() else []


def _can_be_apart() -> bool:
    if os.environ.get("SIMULATION_LOOPBACK"):
        return False
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    made = subprocess.run(["unshare", "--net", "ip", "link", "add", "br0", "type", "bridge"], capture_output=True)
    if made.returncode:
        os.environ["SIMULATION_LOOPBACK"] = "1"
        print("note: no network namespaces here, so everything goes over lo", file=sys.stderr)
    return made.returncode == 0


def _wait_until_apart(pid: int) -> None:
    ours, deadline = procs.link(os.getpid(), "ns/net"), time.monotonic() + START_SECONDS
    while procs.link(pid, "ns/net") in (ours, ""):
        if time.monotonic() > deadline:
            raise Unavailable("a process did not get its network namespace")
        time.sleep(0.01)


class Fleet:
    """Redis, API processes and workers."""

    def __init__(self, stack: contextlib.ExitStack, arguments: Sequence[str]) -> None:
        self._stack = stack
        self.workers = 0
        self.apis: list[Member] = []
        self.hosts: list[Member] = []
        self.spread = _can_be_apart()
        self._network = Network(self._start([*_apart(), "sleep", "infinity"])) if self.spread else None
        self._start_redis(arguments)

    @property
    def slots(self) -> int:
        """How many there are in all."""
        return self.workers * SLOTS

    @property
    def common_mean(self) -> float:
        """Seconds that a slot sleeps where all slots together are to do the common number a second."""
        return self.slots / self.rate

    def add_api(self) -> None:
        """One more API process."""
        [api] = self._members("api", 1)
        api.say("begin", url=self.url)
        api.hear()
        self.apis.append(api)

    def add_workers(self, count: int, each: int) -> None:
        """So many workers more, so many to a process."""
        counts = [min(each, count - at) for at in range(0, count, each)]
        hosts = self._members("workers", len(counts))
        for host, own in zip(hosts, counts, strict=True):
            host.say("begin", url=self.url, count=own)
        for host in hosts:
            host.hear()
        self.hosts += hosts
        self.workers += count

    def ask(self, members: Sequence[Member], what: str, **values: object) -> list[Figures]:
        """Ask all these, and wait until all have answered."""
        for member in members:
            member.say(what, **values)
        return [member.hear() for member in members]

    def ask_all(self, what: str, **values: object) -> list[Figures]:
        """Ask everyone."""
        return self.ask([*self.apis, *self.hosts], what, **values)

    def mean(self, seconds: float) -> None:
        """From now on slots sleep so long, on the average."""
        self.ask(self.hosts, "mean", seconds=seconds)

    def spans(self) -> list[Figures]:
        """What the slots did since this was last asked."""
        return self.ask(self.hosts, "spans")

    def memory(self) -> int:
        """Bytes that Redis uses."""
        return int(self.redis.info("memory")["used_memory"])

    def look(self) -> Look:
        """All counters now."""
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
            self._stack.callback(_end, member.process)
        for member in members:
            if self._network:
                self._network.join(member.process.pid)
        return members

    def _start(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=_end_with_us)
        self._stack.callback(_end, process)
        return process

    def _start_redis(self, arguments: Sequence[str]) -> None:
        if shutil.which("redis-server") is None:
            raise Unavailable("redis-server is not installed: apt-get install redis-server")
        folder, port = self._stack.enter_context(tempfile.TemporaryDirectory()), free_port()
        socket, password = f"{folder}/redis.sock", secrets.token_hex(8)
        command = ["redis-server", "--port", str(port), "--unixsocket", socket, "--dir", folder, "--save", ""]
        command += ["--requirepass", password, "--maxclients", "20000", "--loglevel", "warning", *arguments]
        waiting = ["sh", "-c", 'read -r _; exec "$@"', "sh"]
        process = self._start([*_apart(), *waiting, *command])
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
                raise Unavailable("redis-server did not start")
            time.sleep(0.02)

    rate = RATE


@contextlib.contextmanager
def fleet(workers: int, options: argparse.Namespace) -> Iterator[Fleet]:
    """Start a fleet, and end it. Raises Unavailable."""
    with contextlib.ExitStack() as stack:
        here = Fleet(stack, ["--appendonly", "yes" if options.aof else "no"])
        here.rate = options.rate
        for _ in range(options.apis):
            here.add_api()
        here.add_workers(workers, options.together)
        yield here
        for member in [*here.apis, *here.hosts]:
            member.process.kill()  # all at once: nobody is to notice that the others go


def _end_with_us() -> None:
    """In a process that is being started: whatever becomes of us, it is not to stay behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


# --- an API process, from inside


class Api:
    """Submits, and waits for answers."""

    def __init__(self, settings: Settings, queue: RqQueue) -> None:
        self._settings = settings
        self._queue = queue
        self._numbers = itertools.count()
        self._making = 0.0  # CPU seconds for what a client would have done
        self._outstanding = 0
        self._answered = 0
        self._faults = 0
        self._wanted = 0
        self._less = asyncio.Event()
        self._feeding: asyncio.Task[None] | None = None

    async def figures(self) -> Figures:
        """Counters. CPU is that of the service alone."""
        return {"cpu": time.process_time() - self._making, "answered": self._answered, "faults": self._faults}

    async def load(self, outstanding: int) -> Figures:
        """From now on so many are on their way, until `drain`; it is answered once they are."""
        self._wanted = outstanding
        self._feeding = self._feeding or asyncio.ensure_future(self._feed())
        deadline = time.monotonic() + FILL_SECONDS
        while self._outstanding + BATCH <= self._wanted and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        return {}

    async def drain(self) -> Figures:
        """Submit nothing more, and wait for all answers."""
        self._wanted = 0
        if self._feeding is not None:
            self._less.set()
            await self._feeding
            self._feeding = None
        return await self._all_answered()

    async def sparse(self, size: int, every: float, times: int) -> Figures:
        """Small groups at about regular times."""
        for _ in range(times):
            await self._submit([size])
            await asyncio.sleep(every * random.uniform(0.5, 1.5))
        return await self._all_answered()

    async def batch(self, count: int) -> Figures:
        """One batch."""
        await self._submit([GROUPS[1]] * (count // GROUPS[1]) + ([count % GROUPS[1]] if count % GROUPS[1] else []))
        return await self._all_answered()

    async def _all_answered(self) -> Figures:
        while self._outstanding:
            self._less.clear()
            await self._less.wait()
        return {}

    async def _feed(self) -> None:
        while self._wanted:
            if self._outstanding + BATCH <= self._wanted:
                missing = self._wanted - self._outstanding
                times = missing // BATCH if missing > self._wanted // 2 else 1  # all at once in the beginning
                mixed = [GROUPS[0]] * (BATCH // 2 // GROUPS[0]) + [GROUPS[1]] * (BATCH // 2 // GROUPS[1])
                await self._submit(mixed * times)
            else:
                self._less.clear()
                await self._less.wait()

    async def _submit(self, groups: Sequence[int]) -> None:
        jobs = []
        for size in groups:
            began = time.thread_time()
            body = self._group(size)
            self._making += time.thread_time() - began
            jobs += await Intake(self._settings, self._queue.suite, "").many(body)
        self._outstanding += len(jobs)
        for ticket in await self._queue.submit(jobs):
            ticket.answer.add_done_callback(partial(self._done, ticket))

    def _group(self, size: int) -> bytes:
        """What one client sends: a group of programs for one problem."""
        group = f"{os.getpid()}.{next(self._numbers)}"
        tests = [{"type": "stdin", "input": f"{group} {each}\n" * 4, "output": f"{each}\n"} for each in range(TESTS)]
        code = f"# @{time.monotonic():.6f}@\nprint(input().split()[1])\n"
        code += "# every line of it is as long as this\n" * ((CODE_BYTES - len(code)) // 38)
        programs = [{"id": f"{group}.{each}", "code": f"{code}# {group}.{each}"} for each in range(size)]
        return json.dumps({"defaults": {"tests": tests}, "submissions": programs}).encode()

    def _done(self, ticket: Ticket, _: object) -> None:
        self._answered += 1
        self._faults += ticket.answer.result().is_fault
        ticket.release()
        self._outstanding -= 1
        self._less.set()


async def _be_api() -> None:
    orders = Orders()
    begin = await orders.first()
    settings = _settings(begin["url"])
    async with bootstrap.fleet_queue(settings) as queue:
        api = Api(settings, queue)
        orders.reply({})
        await orders.obey(api)


# --- a process with workers, from inside


@dataclass
class Times:
    """How long slots sleep, and what they did."""

    mean: float = REAL_SECONDS
    waits: deque[float] = field(default_factory=lambda: deque(maxlen=100_000))
    spans: deque[tuple[str, float, float]] = field(default_factory=lambda: deque(maxlen=100_000))


class SleepingSlot:
    """A slot that answers after a while, always the same."""

    def __init__(self, index: int, owner: Owner, times: Times) -> None:
        self.index = index
        self.ready = True
        self.failed_since: float | None = None
        self.reason = ""
        self.language = "Sleep 1"
        self._name = secrets.token_hex(8)
        self._owner = owner
        self._times = times
        self._key: int | None = None

    @property
    def free(self) -> bool:
        """See slots.SlotProcess."""
        return self._key is None

    def give(self, key: int, suite: Suite, body: bytes) -> None:
        """See slots.SlotProcess."""
        self._key, now = key, time.monotonic()
        stamp = STAMP.search(body)
        assert stamp is not None
        assert suite.body
        self._times.waits.append(now - float(stamp[1]))
        seconds = self._times.mean * random.uniform(1 - SPREAD, 1 + SPREAD)
        asyncio.get_running_loop().call_later(seconds, self._answer, key, now)

    def cancel(self, key: int) -> None:
        """See slots.SlotProcess: it sleeps on."""

    async def close(self) -> None:
        """See slots.SlotProcess."""

    def _answer(self, key: int, began: float) -> None:
        self._key = None
        self._times.spans.append((self._name, began, time.monotonic()))
        self._owner.slot_done(key, ANSWER)
        self._owner.slot_free()


ANSWER = (
    Grade(
        id="",
        verdict=Verdict.AC,
        reward=1.0,
        passed=TESTS,
        total=TESTS,
        tests=[
            TestResult(
                index=each,
                verdict=Verdict.AC,
                cpu_seconds=0.012345,
                wall_seconds=0.013456,
                peak_memory_bytes=12_345_678,
                stdout=f"{each}\n",
            )
            for each in range(TESTS)
        ],
        timing=Timing(graded_seconds=REAL_SECONDS),
    )
    .model_dump_json()
    .encode()
)


class Hosts:
    """Many workers in one process."""

    def __init__(self, times: Times) -> None:
        self._times = times

    async def figures(self) -> Figures:
        """Counters."""
        return {"cpu": time.process_time()}

    async def mean(self, seconds: float) -> Figures:
        """How long slots sleep from now on."""
        self._times.mean = seconds
        return {}

    async def spans(self) -> Figures:
        """What the slots did since this was last asked."""
        found = {"waits": list(self._times.waits), "spans": list(self._times.spans)}
        self._times.waits.clear()
        self._times.spans.clear()
        return found


async def _be_workers() -> None:
    orders = Orders()
    begin = await orders.first()
    settings, times = _settings(begin["url"]), Times()
    async with contextlib.AsyncExitStack() as stack:
        running = []
        for _ in range(begin["count"]):
            books = await stack.enter_async_context(bootstrap.ledger(settings))
            make = cast("SlotFactory", lambda index, owner: SleepingSlot(index, owner, times))
            worker = Worker(books, make, SLOTS, _pump_of(settings), settings.suite_bytes)
            running.append(asyncio.ensure_future(worker.run(asyncio.Event(), 0.0)))
            await asyncio.sleep(REGISTER_SECONDS)
        orders.reply({})
        obeying = asyncio.ensure_future(orders.obey(Hosts(times)))
        done, _ = await asyncio.wait([obeying, *running], return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()


def _pump_of(settings: Settings) -> Any:
    return lambda name, take: Pump(settings.redis_url, settings.redis_name, name, take)


def _settings(url: str) -> Settings:
    return Settings(
        redis_url=url,
        cache_seconds=0,
        queue_submissions=EVERYTHING,
        queue_bytes=EVERYTHING,
        queue_cpu_seconds=EVERYTHING,
    )


class Orders:
    """What the parent asks for: lines of JSON that name a method and its arguments."""

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=REPLY_LIMIT)

    async def first(self) -> Figures:
        """Wait for the first of them."""
        protocol = asyncio.StreamReaderProtocol(self._reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        return await self._next()

    async def obey(self, servant: object) -> None:
        """Do what is asked, until there is nobody left to ask."""
        while order := await self._next():
            self.reply(await getattr(servant, order.pop("do"))(**order))

    async def _next(self) -> Figures:
        line = await self._reader.readline()
        return json.loads(line) if line else {}

    @staticmethod
    def reply(values: Figures) -> None:
        """Answer."""
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks simulation", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=lambda text: [int(each) for each in text.split(",")], default=SIZES)
    parser.add_argument("--apis", type=int, default=1, help="API processes")
    parser.add_argument("--rate", type=float, default=RATE, help="submissions a second, about")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement")
    parser.add_argument("--settle", type=float, default=SETTLE_SECONDS, help="to wait before measurements")
    parser.add_argument("--together", type=int, default=TO_A_PROCESS, help="workers in one process")
    parser.add_argument("--aof", action="store_true", help="Redis writes what it does to disk, once a second")
    parser.add_argument("--profile", action="store_true", help="which calls Redis spends its time on")
    parser.add_argument("--memory", action="store_true", help="what Redis keeps, and nothing else")
    parser.add_argument("--role", choices=["api", "workers"], help=argparse.SUPPRESS)
    return parser.parse_args(arguments)
