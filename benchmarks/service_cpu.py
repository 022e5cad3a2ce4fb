"""Measures the CPU time of the API process for a submission, answers included, with slots that answer at once.

The rows are batches of 512 and single requests, on one machine and in a fleet. Everything but grading is the service's
own: HTTP, the queue, the frames between service and slot over their sockets, the answers, metrics and the history. The
slots of the first rows are processes, and that of the fleet's worker is a part of the worker. The client reads whole
responses. CPU time is that of the API process alone; a batch of 512 is below the size that another process reads.

    python -m benchmarks service_cpu
    python -m benchmarks service_cpu --parts machine --rounds 5
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import socket
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import aiohttp

from benchmarks import fleet
from benchmarks.contenders.base import UnavailableError
from benchmarks.prompt import ANSWER
from benchmarks.service import Service
from sandbox_service.commands.serve import serve
from sandbox_service.settings import Settings
from sandbox_service.slots import protocol
from sandbox_service.slots.process import SlotProcess

BATCH, BATCHES, AT_ONCE, SINGLES, TESTS = 512, 8, 4, 2048, 10
CODE = "# %d\nprint(sum(map(int, input().split())))"  # short, so that a batch of 512 stays below 128 KiB
NUMBERS = itertools.count()
ROUNDS = 3


def main(arguments: list[str]) -> int:
    """Print the table; returns 2 if it cannot run. Also runs the service and its slots, started by this command."""
    options = _options(arguments)
    if options.role == "serve":
        return _serve()
    if options.role == "slot":
        _answer_all(options.connection)
        return 0
    print(f"| API ms of a submission, median of {options.rounds} | batches of {BATCH} | single POSTs, 64 at once |")
    print("|---|---|---|")
    try:
        for part in options.parts:
            PARTS[part](options.rounds)
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2
    return 0


# --- the service and its slots


def _serve() -> int:
    """Serve with slot processes that answer at once."""
    slot: Any = SlotProcess
    slot._start = _start
    return serve(Settings.from_environment())


def _start(_: SlotProcess, connection: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks", "service_cpu", "--role", "slot", "--connection", str(connection)]
    return subprocess.Popen(command, pass_fds=(connection,), stdin=subprocess.DEVNULL)


def _answer_all(descriptor: int) -> None:
    """Answer each submission with the same grade, until the service is gone."""
    connection = protocol.BlockingConnection(socket.socket(fileno=descriptor))
    status = {"ready": True, "reason": "", "language": "Prompt 1"}
    connection.send(protocol.STATUS, payload=json.dumps(status).encode())
    try:
        while True:
            frame = connection.next(60.0)
            if frame is not None and frame.kind == protocol.SUBMIT:
                connection.send(protocol.GRADE, frame.key, ANSWER)
    except EOFError:
        return


class _PromptService(Service):
    """A service on this machine whose slots answer at once."""

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "benchmarks", "service_cpu", "--role", "serve"]


# --- measuring


def _machine(rounds: int) -> None:
    service = _PromptService()
    service.start()
    try:
        _print("one machine", service, rounds)
    finally:
        service.close()


def _fleet(rounds: int) -> None:
    with fleet.fleet(fleet.PROMPT) as here:
        _print("fleet", here.service, rounds)


def _print(name: str, service: Service, rounds: int) -> None:
    measured = [(_batches(service), _singles(service)) for _ in range(rounds + 1)][1:]  # the first warms up
    batches, singles = (statistics.median(each) for each in zip(*measured, strict=True))
    print(f"| {name} | {batches:.3f} | {singles:.3f} |", flush=True)


def _batches(service: Service) -> float:
    defaults = {"tests": [{"type": "stdin", "input": f"{n} 2", "output": f"{n + 2}"} for n in range(TESTS)]}
    bodies = [
        json.dumps({"defaults": defaults, "submissions": [{"code": CODE % next(NUMBERS)} for _ in range(BATCH)]})
        for _ in range(BATCHES)
    ]
    return _spent(service, "/v1/grade/batch", bodies, AT_ONCE, BATCH * BATCHES)


def _singles(service: Service) -> float:
    tests = [{"type": "stdin", "input": f"{n} 2", "output": f"{n + 2}"} for n in range(TESTS)]
    bodies = [json.dumps({"code": CODE % next(NUMBERS), "tests": tests}) for _ in range(SINGLES)]
    return _spent(service, "/v1/grade", bodies, 64, SINGLES)


def _spent(service: Service, path: str, bodies: Sequence[str], at_once: int, submissions: int) -> float:
    """Return the CPU milliseconds that the API process needs for each submission."""
    [before] = fleet._cpu([service.pid])
    answers = asyncio.run(_sent(service.url, path, bodies, at_once))
    [after] = fleet._cpu([service.pid])
    accepted = sum(answer.count(b'"verdict":"AC","reward"') for answer in answers)
    if accepted != submissions:
        raise UnavailableError(f"{accepted} of {submissions} submissions were accepted: {answers[0][:300]!r}")
    return 1000 * (after - before) / submissions


async def _sent(url: str, path: str, bodies: Sequence[str], at_once: int) -> list[bytes]:
    connector = aiohttp.TCPConnector(limit=at_once)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(url, connector=connector, headers=headers) as client:

        async def one(body: str) -> bytes:
            async with client.post(path, data=body) as answer:
                return await answer.read()

        return list(await asyncio.gather(*map(one, bodies)))


PARTS: dict[str, Any] = {"machine": _machine, "fleet": _fleet}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks service_cpu", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), help="machine,fleet")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--role", choices=["serve", "slot"], help=argparse.SUPPRESS)
    parser.add_argument("--connection", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)
