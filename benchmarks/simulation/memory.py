"""Measures the memory of Redis with all submissions waiting, and with all of them answered."""

from __future__ import annotations

import argparse
import time

from benchmarks.simulation.fleet import fleet
from benchmarks.simulation.scenario import SETTLE_SECONDS


def memory(options: argparse.Namespace) -> None:
    """Print the bytes for a waiting submission and for an answer."""
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
