"""Measures the cost of a submission as a fleet grows: a real Redis, real queues and N real workers whose slots sleep.

All that talks to Redis is the service's own: Intake, FleetQueue, Worker, the ledger and RQ. HTTP and grading are not
included. Many workers share a process, each with its own connections and its own RQ thread. Each process has a network
namespace of its own on one bridge, so that it reaches Redis by TCP as another host would.

One machine cannot feed two thousand slots at the speed of real ones, so the rate is about the same for every N, and
the slots sleep as long as that takes. The tables have the cost of a submission with N workers, and of N idle workers.

    python -m benchmarks simulation                          1, 10, 100 and 1,000 workers of two slots: the table
    python -m benchmarks simulation --workers 100 --profile  which calls Redis spends its time on
    python -m benchmarks simulation --memory                 what Redis keeps for a submission and for an answer

CPU is each process's own. A submission is 1.5 kB of code, in a group of 8 or 16 that share a suite of ten tests, in a
batch of 64; its answer is 2 kB.

The parent starts this command again for each process, and sends it requests as lines of JSON:

    growth.py ─┬─ fleet.py ── members.py ══ pipe ══ orders.py ─┬─ api.py
    memory.py ─┘     └─ network.py                             └─ workers.py

    scenario.py    the sizes and times of both sides
    slowlog.py     --profile
    report.py      the tables
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import resource

from benchmarks.contenders.base import UnavailableError
from benchmarks.simulation.api import be_api
from benchmarks.simulation.growth import grow
from benchmarks.simulation.memory import memory
from benchmarks.simulation.scenario import RATE, SETTLE_SECONDS
from benchmarks.simulation.workers import be_workers

SIZES = [1, 10, 100, 1000]
TO_A_PROCESS = 50


def main(arguments: list[str]) -> int:
    """Run a measurement and print its tables, or be one of the processes of another run."""
    options = _options(arguments)
    if options.role:
        logging.disable(logging.CRITICAL)
        asyncio.run({"api": be_api, "workers": be_workers}[options.role]())
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        if options.memory:
            memory(options)
        else:
            grow(options)
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2
    return 0


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
