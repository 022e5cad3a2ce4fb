"""Measures fleets of growing size: idle, nearly idle, with one batch, and busy."""

from __future__ import annotations

import argparse
import time

from benchmarks.simulation.fleet import Fleet, fleet
from benchmarks.simulation.report import Measured, print_costs, print_waits
from benchmarks.simulation.scenario import GROUPS, REAL_SECONDS, SLOTS, SPREAD
from benchmarks.simulation.slowlog import profile

HELD = 6  # pending submissions for each slot: a worker holds four, so two wait
LEAST_HELD = 256


def grow(options: argparse.Namespace) -> None:
    """Print the tables, with a row for each number of workers."""
    rows = []
    for workers in options.workers:
        with fleet(workers, options) as here:
            rows.append(_measure(here, options))
    print(
        f"\nsimulated: {SLOTS} slots a worker, {options.apis} API, " + ("network namespaces" if here.spread else "lo")
    )
    print_costs(rows)
    print_waits(rows)


def _measure(here: Fleet, options: argparse.Namespace) -> Measured:
    found = Measured(here.workers)
    time.sleep(options.settle)
    _idle(here, found, options.seconds)
    if options.profile:
        profile(here, "idle")
    _sparse(here, found, options.seconds)
    _batch(here, found)
    _load(here, found, options)
    sums = here.ask_all("figures")
    found.refused = int(sum(each.get("refused", 0) for each in sums))
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
    """Submit small groups to a fleet that is mostly idle."""
    here.mean(REAL_SECONDS)
    size = max(1, min(GROUPS[0], here.slots // 4))
    here.ask(here.apis[:1], "figures")
    here.spans()
    here.ask(here.apis[:1], "sparse", size=size, every=4 * REAL_SECONDS, times=round(seconds / REAL_SECONDS / 4 * 2))
    found.waits = sorted(wait for span in here.spans() for wait in span["waits"])


def _batch(here: Fleet, found: Measured) -> None:
    """Submit one batch with two submissions for each slot, to see whether the work is shared."""
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
        profile(here, "busy")
    here.ask(here.apis, "drain")
