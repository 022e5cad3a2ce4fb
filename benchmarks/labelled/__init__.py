"""Grades programs whose verdicts are known, and prints a table: as labelled, explained, or neither.

    python -m benchmarks labelled humanevalpack_cpp_0_59.jsonl humanevalpack_java_0_59.jsonl
    python -m benchmarks labelled judges_public.jsonl
    python -m benchmarks labelled codecontests_100.jsonl --checkers datasets/checkers/codecontests.toml
    python -m benchmarks labelled mbpp.jsonl --only 123 --url http://127.0.0.1:8080

A file is a data set that `proctor validate` reads, or has problems with judges and submissions of their own
(`cases.judged`). Explanations of verdicts that differ from their labels are in explanations.toml, by the program's id.
The exit status is 0 if every program has its verdict or an explanation.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.labelled.cases import Case, cases
from benchmarks.labelled.table import Judged, lines
from benchmarks.service import Service
from sandbox_service.validation.known_checkers import KnownCheckers

EXPLANATIONS = Path(__file__).with_name("explanations.toml")
BATCH = 500
HEADERS = Path(__file__).with_name("headers")


def graded(service: Service, wanted: list[Case]) -> Iterator[Judged]:
    """Grade programs.

    Args:
        service: a service that is ready.
        wanted: the programs; those that cannot be sent have a reason instead of a body.

    Yields:
        Each program with its grade.
    """
    known = explanations()
    sendable = {case.id: case for case in wanted if case.body is not None}
    waiting = list(sendable.values())
    for case in wanted:
        if case.body is None:
            yield Judged(case, {}, case.why_not, known.get(case.id))
    for begin in range(0, len(waiting), BATCH):
        body = {"submissions": [{"id": case.id, **(case.body or {})} for case in waiting[begin : begin + BATCH]]}
        for grade in service.lines("/v1/grade/batch", body):
            yield Judged(sendable[grade["id"]], grade, "", known.get(grade["id"]))


def explanations() -> Mapping[str, Mapping[str, str]]:
    """Return what is known of verdicts that differ from their labels, by the program's id: `class` and `why`."""
    found: dict[str, Any] = tomllib.loads(EXPLANATIONS.read_text())
    return {name: group | {"class": title} for title, each in found.items() for name, group in _entries(each)}


def _entries(group: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    return [(name, {"why": why}) for name, why in group.items()]


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks labelled", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--languages", default="", help="only these, separated by commas")
    parser.add_argument("--only", default="", help="only programs with this in their id")
    parser.add_argument("--checkers", default="", help="checker programs for problems that have none, as in recipes")
    parser.add_argument("--headers", type=Path, default=HEADERS, help="a folder with headers for judges in C++")
    parser.add_argument("--url", help="a running service; by default one is started")
    parser.add_argument("--slots", type=int, help="of the service that is started; by default one per processor")
    options = parser.parse_args(arguments)
    checkers = KnownCheckers.read(options.checkers)
    chosen = set(filter(None, options.languages.split(",")))
    wanted = [
        case
        for path in options.files
        for case in cases(path, checkers)
        if options.only in case.id and (not chosen or case.language in chosen)
    ]
    service = Service(options.url, options.slots, judge_libraries=options.headers)
    service.start()
    try:
        found = sorted(graded(service, wanted), key=lambda each: each.case.id)
    finally:
        service.close()
    print("\n".join(lines(found)))
    return 0 if all(each.is_settled for each in found) else 1
