"""Measures a fleet on this machine (Redis, API, one worker per processor) against the queue of one process, in turns.

Parts: throughput, bursts of thousands of submissions, savings by suites, and overhead without grading. CPU time is per
process, in milliseconds a submission; it varies less than wall time on a shared machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from benchmarks import procs, waits, workloads
from benchmarks.contenders.base import UnavailableError
from benchmarks.service import Service, command, environment, free_port
from benchmarks.workloads import Body

GROUP = 16
BURST = 8192
CONCURRENT = 4096
SUITE_TESTS, SUITE_TEST_BYTES, SUITE_GROUP, SUITE_SUBMISSIONS = 50, 2000, 8, 1024
OVERHEAD_SUBMISSIONS, OVERHEAD_BATCH, OVERHEAD_CONNECTIONS = 4096, 64, 64
CPUCLOCK_SCHED = 2  # of include/linux/posix-timers.h: what kind of clock a process's own is
PROMPT = [sys.executable, "-m", "benchmarks.prompt"]
NUMBERS = itertools.count(1_000_000)


@dataclass
class Fleet:
    """A Redis, an API process and a worker for each processor."""

    service: Service
    redis: int
    workers: list[int] = field(default_factory=list)


@contextlib.contextmanager
def fleet(worker: Sequence[str] = ()) -> Iterator[Fleet]:
    """Start a fleet, and stop it at the end of the block.

    Args:
        worker: Command of one worker; if empty, a real worker for each processor.

    Yields:
        The running fleet.

    Raises:
        UnavailableError: A part of it cannot be started.
    """
    if shutil.which("redis-server") is None:
        raise UnavailableError("redis-server is not installed: apt-get install redis-server")
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        redis = _start(stack, ["redis-server", "--port", str(port), "--save", "", "--dir", folder], None, {})
        service = Service(redis_url=url)
        workers = [
            _start(stack, worker or [command(), "worker"], processor, environment(redis_url=url, slots=1))
            for processor in ([None] if worker else sorted(os.sched_getaffinity(0)))
        ]
        service.start()
        stack.callback(service.close)
        while len(_get(service, "/v1/status")["workers"]) < len(workers):
            time.sleep(0.1)
        yield Fleet(service, redis, workers)


def _start(
    stack: contextlib.ExitStack, arguments: Sequence[str], processor: int | None, environment: dict[str, str]
) -> int:
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment or None,
        preexec_fn=None if processor is None else lambda: os.sched_setaffinity(0, [processor]),
    )

    def end() -> None:
        process.terminate()
        process.wait()

    stack.callback(end)
    return process.pid


def main(arguments: list[str]) -> int:
    """Run the selected parts and print their tables."""
    options = _options(arguments)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        for part in options.parts:
            with fleet(PROMPT if part == "overhead" else ()) as here:
                PARTS[part](here, options)
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2
    return 0


# --- throughput


def throughput(here: Fleet, options: argparse.Namespace) -> None:
    """Send the same batches to one process and to the fleet, in turns."""
    alone = Service()
    alone.start()
    with contextlib.closing(alone):
        print("| workload | queue | submissions/s | ratio | API ms | Redis ms | worker ms |")
        print("|---|---|---|---|---|---|---|")
        for name in options.workloads:
            bodies = workloads.build(name)
            _batch(alone, bodies, GROUP)
            _batch(here.service, bodies, GROUP)
            rounds = [
                (_measured(alone, [alone.pid], bodies, options.count), _measured_fleet(here, bodies, options.count))
                for _ in range(options.rounds)
            ]
            _print_rounds(name, rounds)


def _print_rounds(name: str, rounds: list[tuple[tuple[float, list[float]], tuple[float, list[float]]]]) -> None:
    ratio = statistics.median(fleet_rate / local_rate for (local_rate, _), (fleet_rate, _) in rounds)
    rate, [api] = statistics.median(each[0][0] for each in rounds), [statistics.median(r[0][1][0] for r in rounds)]
    print(f"| {name} | local | {rate:.1f} | 1 | {api:.3f} | | |")
    rate = statistics.median(each[1][0] for each in rounds)
    api, redis, *workers = (statistics.median(column) for column in zip(*(each[1][1] for each in rounds), strict=True))
    print(f"| {name} | fleet | {rate:.1f} | {ratio:.3f} | {api:.3f} | {redis:.3f} | {sum(workers):.3f} |")


def _measured_fleet(here: Fleet, bodies: list[Body], count: int) -> tuple[float, list[float]]:
    return _measured(here.service, [here.service.pid, here.redis, *here.workers], bodies, count)


def _measured(service: Service, pids: list[int], bodies: list[Body], count: int) -> tuple[float, list[float]]:
    """Submissions a second, and CPU milliseconds per submission of each process."""
    before, start = _cpu(pids), time.perf_counter()
    _batch(service, bodies, count)
    seconds = time.perf_counter() - start
    return count / seconds, [1000 * (after - begun) / count for begun, after in zip(before, _cpu(pids), strict=True)]


def _batch(service: Service, bodies: list[Body], count: int) -> None:
    """Send a batch for each problem of the workload, concurrently; all must be accepted."""
    share = -(-count // len(bodies))
    requests = [
        {"defaults": {"tests": body["tests"]}, "submissions": [_fresh(body) for _ in range(share)]} for body in bodies
    ]
    verdicts = Counter(asyncio.run(_posted(service.url, "/v1/grade/batch", requests)))
    assert verdicts == {"AC": share * len(bodies)}, verdicts


def _fresh(body: Body) -> Body:
    return {"code": workloads.fresh(body, next(NUMBERS))["code"]}


async def _posted(url: str, path: str, requests: Sequence[object]) -> list[str]:
    async with _client(url, len(requests)) as client:
        answers = await asyncio.gather(*(_lines(client, path, request) for request in requests))
    return [line["verdict"] for lines in answers for line in lines]


async def _lines(client: aiohttp.ClientSession, path: str, request: object) -> list[dict[str, Any]]:
    async with client.post(path, data=json.dumps(request)) as answer:
        assert answer.status == 200, await answer.text()
        return [json.loads(line) for line in (await answer.read()).splitlines() if line.strip()]


def _client(url: str, connections: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        url,
        connector=aiohttp.TCPConnector(limit=connections),
        timeout=aiohttp.ClientTimeout(total=600),
        headers={"Content-Type": "application/json"},
    )


# --- a burst


def burst(here: Fleet, options: argparse.Namespace) -> None:
    """Send thousands of submissions at once, one by one and in one batch."""
    print("| burst | submissions | answered | p50 s | p99 s | API ms | Redis ms | API RSS MB | Redis MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    [first, *_] = workloads.build("calls10")
    for name, send in (("single POSTs", _singles), ("one batch", _one_batch)):
        pids = [here.service.pid, here.redis]
        before = _cpu(pids)
        latencies = asyncio.run(send(here.service.url, [_fresh(first) for _ in range(options.burst)], first["tests"]))
        api, redis = (1000 * (after - begun) / options.burst for begun, after in zip(before, _cpu(pids), strict=True))
        memory = " | ".join(f"{procs.resident_bytes(pid) / 1e6:.0f}" for pid in pids)
        p50, p99 = (latencies[int(share * (len(latencies) - 1))] for share in (0.5, 0.99))
        count = f"{options.burst} | {len(latencies)}"
        print(f"| {name} | {count} | {p50:.2f} | {p99:.2f} | {api:.3f} | {redis:.3f} | {memory} |")


async def _singles(url: str, bodies: list[Body], tests: list[Body]) -> list[float]:
    room = asyncio.Semaphore(CONCURRENT)

    async def one(client: aiohttp.ClientSession, body: Body) -> float:
        async with room:
            start = time.perf_counter()
            [answer] = await _lines(client, "/v1/grade", body | {"tests": tests})
            assert answer["verdict"] == "AC", answer
            return time.perf_counter() - start

    async with _client(url, CONCURRENT) as client:
        return sorted(await asyncio.gather(*(one(client, body) for body in bodies)))


async def _one_batch(url: str, bodies: list[Body], tests: list[Body]) -> list[float]:
    request, start, latencies = {"defaults": {"tests": tests}, "submissions": bodies}, time.perf_counter(), []
    async with _client(url, 1) as client, client.post("/v1/grade/batch", data=json.dumps(request)) as answer:
        async for line in answer.content:
            if line.strip():
                assert json.loads(line)["verdict"] == "AC", line
                latencies.append(time.perf_counter() - start)
    return sorted(latencies)


# --- suites


def suites(here: Fleet, _: argparse.Namespace) -> None:
    """Compare groups that carry their tests in every submission with tests that are uploaded once."""
    print("| tests | bytes sent MB | API ms | Redis ms |")
    print("|---|---|---|---|")
    padding = "x" * SUITE_TEST_BYTES
    groups = [
        [
            {"type": "stdin", "input": f"{group} {number} {padding}\n", "output": f"{group}"}
            for number in range(SUITE_TESTS)
        ]
        for group in range(SUITE_SUBMISSIONS // SUITE_GROUP)
    ]
    for name, make in (("inline", _inline), ("suite", _by_suite)):
        pids = [here.service.pid, here.redis]
        before = _cpu(pids)
        sent = asyncio.run(make(here.service.url, groups))
        api, redis = (
            1000 * (after - begun) / SUITE_SUBMISSIONS for begun, after in zip(before, _cpu(pids), strict=True)
        )
        print(f"| {name} | {sent / 1e6:.1f} | {api:.3f} | {redis:.3f} |")


def _program() -> Body:
    return {"code": f"# {next(NUMBERS)}\nprint('no')"}  # fails the first test: grading is not what is measured


async def _inline(url: str, groups: list[list[Body]]) -> int:
    bodies = [_program() | {"tests": tests} for tests in groups for _ in range(SUITE_GROUP)]
    return await _all_sent(url, [json.dumps({"submissions": bodies[at : at + 64]}) for at in range(0, len(bodies), 64)])


async def _by_suite(url: str, groups: list[list[Body]]) -> int:
    packed = [json.dumps({"tests": tests}).encode() for tests in groups]
    names = [hashlib.sha256(body).hexdigest() for body in packed]
    async with _client(url, 16) as client:
        for name, body in zip(names, packed, strict=True):
            async with client.put(f"/v1/suites/{name}", data=body) as answer:
                assert answer.status in (200, 201), await answer.text()
    bodies = [_program() | {"suite": f"sha256:{name}"} for name in names for _ in range(SUITE_GROUP)]
    sent = await _all_sent(url, [json.dumps({"submissions": bodies[at : at + 64]}) for at in range(0, len(bodies), 64)])
    return sent + sum(map(len, packed))


async def _all_sent(url: str, requests: list[str]) -> int:
    async with _client(url, 4) as client:
        for request in requests:
            async with client.post("/v1/grade/batch", data=request) as answer:
                lines = [json.loads(line) for line in (await answer.read()).splitlines() if line.strip()]
                assert {line["verdict"] for line in lines} == {"WA"}, lines[0]
    return sum(map(len, requests))


# --- overhead


def overhead(here: Fleet, options: argparse.Namespace) -> None:
    """Measure the cost of a submission without grading, with a worker whose slots answer at once."""
    print("| sent as | submissions/s | API ms | Redis ms | worker ms |")
    print("|---|---|---|---|---|")
    pids = [here.service.pid, here.redis, *here.workers]
    for size in (OVERHEAD_BATCH, OVERHEAD_SUBMISSIONS, 1):
        rounds = [_overhead(here.service.url, pids, size) for _ in range(options.rounds + 1)][1:]  # the first warms up
        rate, api, redis, worker = map(statistics.median, zip(*rounds, strict=True))
        name = f"batches of {size}" if size > 1 else f"single POSTs, {OVERHEAD_CONNECTIONS} at once"
        print(f"| {name} | {rate:.0f} | {api:.3f} | {redis:.3f} | {worker:.3f} |")


def _overhead(url: str, pids: Sequence[int], size: int) -> list[float]:
    """Submissions a second, and CPU milliseconds per submission of each process."""
    requests = [_slight(size) for _ in range(OVERHEAD_SUBMISSIONS // size)]
    before, start = _cpu(pids), time.perf_counter()
    verdicts = Counter(asyncio.run(_few_at_once(url, requests)))
    seconds, after = time.perf_counter() - start, _cpu(pids)
    assert verdicts == {"AC": OVERHEAD_SUBMISSIONS}, verdicts
    return [
        OVERHEAD_SUBMISSIONS / seconds,
        *(1000 * (end - begun) / OVERHEAD_SUBMISSIONS for begun, end in zip(before, after, strict=True)),
    ]


def _slight(size: int) -> tuple[str, bytes]:
    """Path and body of a request with `size` programs of about 600 bytes that share ten tests."""
    tests = [{"type": "stdin", "input": f"{each} 2", "output": f"{each + 2}"} for each in range(10)]
    programs = [{"code": f"# {'x' * 600} {next(NUMBERS)}\nprint(sum(map(int, input().split())))"} for _ in range(size)]
    if size == 1:
        return "/v1/grade", json.dumps(programs[0] | {"tests": tests}).encode()
    return "/v1/grade/batch", json.dumps({"defaults": {"tests": tests}, "submissions": programs}).encode()


async def _few_at_once(url: str, requests: Sequence[tuple[str, bytes]]) -> list[str]:
    room = asyncio.Semaphore(OVERHEAD_CONNECTIONS)

    async def one(client: aiohttp.ClientSession, path: str, body: bytes) -> list[str]:
        async with room, client.post(path, data=body) as answer:
            assert answer.status == 200, await answer.text()
            return [json.loads(line)["verdict"] for line in (await answer.read()).splitlines() if line.strip()]

    async with _client(url, OVERHEAD_CONNECTIONS) as client:
        answers = await asyncio.gather(*(one(client, path, body) for path, body in requests))
    return list(itertools.chain.from_iterable(answers))


# --- waits


def waiting(here: Fleet, _: argparse.Namespace) -> None:
    """Send short submissions beside slow ones, to one process and to the fleet."""
    alone = Service()
    alone.start()
    with contextlib.closing(alone):
        waits.compare({"one machine": alone, "fleet": here.service})


# --- common


def _cpu(pids: Sequence[int]) -> list[float]:
    """CPU seconds of each process by the scheduler's clock; ticks of 10 ms are too coarse here."""
    return [time.clock_gettime(~pid << 3 | CPUCLOCK_SCHED) for pid in pids]


def _get(service: Service, path: str) -> dict[str, Any]:
    async def get() -> dict[str, Any]:
        async with _client(service.url, 1) as client, client.get(path) as answer:
            found: dict[str, Any] = await answer.json()
            return found

    return asyncio.run(get())


PARTS: dict[str, Callable[[Fleet, argparse.Namespace], None]] = {
    "throughput": throughput,
    "burst": burst,
    "suites": suites,
    "overhead": overhead,
    "waits": waiting,
}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks fleet", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS), help="default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=512, help="submissions of a round")
    parser.add_argument("--burst", type=int, default=BURST)
    parser.add_argument("--workloads", type=lambda text: text.split(","), default=["stdin10", "calls10"])
    return parser.parse_args(arguments)
