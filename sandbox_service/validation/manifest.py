"""Builds manifest.json: sources, counts, graders, and the hashes of the files.

All fields except `run`, which has the times, are equal for equal data, recipe and model output.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.validation.difficulty import TOO_EASY, TOO_HARD
from sandbox_service.validation.finding import MEANINGS, severity_of
from sandbox_service.validation.recipe import Recipe, Source
from sandbox_service.validation.totals import Totals

PIECE_BYTES = 1 << 20


def make(recipe: Recipe, totals: Totals, files: Iterable[Path], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest as JSON data.

    Args:
        recipe: The recipe that was carried out.
        totals: Its counts and values.
        files: The files that were written.
        run: Times and counts of this run.
    """
    return {
        "recipe": recipe.model_dump(mode="json", exclude={"output", "judge"}, exclude_defaults=True),
        "fingerprint": recipe.fingerprint,
        "sources": [source_of(each) for each in recipe.sources],
        "evaluation": [source_of(each) for each in recipe.evaluation],
        "problems": {
            "read": totals.read,
            "left_out": dict(sorted(totals.left_out.items(), key=lambda each: (-each[1], each[0]))),
            "malformed": totals.malformed,
            "clean": totals.clean,
            "quarantined": totals.quarantined,
        },
        "findings": {
            name: {"problems": count, "severity": severity_of(name, recipe.severity), "meaning": MEANINGS[name][1]}
            for name, count in sorted(totals.findings.items(), key=lambda each: (-each[1], each[0]))
        },
        "causes": dict(sorted(totals.causes.items(), key=lambda each: (-each[1], each[0]))),
        **({"generated_checkers": totals.generated} if recipe.checker.writer else {}),
        "by_source": {name: dict(sorted(counts.items())) for name, counts in sorted(totals.by_source.items())},
        "verdicts": {role: dict(sorted(counts.items())) for role, counts in totals.verdicts.items()},
        "figures": {name: summary(values) for name, values in totals.values.items() if len(values)},
        **({"difficulty": difficulty(totals)} if recipe.difficulty else {}),
        "graders": sorted(totals.graders),
        "files": {path.name: file_of(path) for path in files},
        "run": {**run, "runs": totals.runs, "tests": totals.tests_run, "cpu_seconds": round(totals.cpu_seconds, 3)},
    }


def difficulty(totals: Totals) -> dict[str, Any]:
    """Return the difficulties of the clean problems: how many are known, a summary, and the outcomes of samples."""
    rates = Counter(f"{rate:.3f}" for rate in (*totals.solved, *totals.solved_dropped))
    return {
        "known": len(totals.solved) + len(totals.solved_dropped),
        "unknown": totals.unknowns,
        TOO_EASY: totals.left_out[TOO_EASY],
        TOO_HARD: totals.left_out[TOO_HARD],
        "samples": dict(totals.samples),
        "solved": dict(sorted(rates.items())),
    }


def write(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest in one step."""
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(path)


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return the count and quantiles of values."""
    said = {"count": len(values), "least": min(values), "median": statistics.median(values), "greatest": max(values)}
    return {name: round(value, 6) for name, value in said.items()}


def hash_of(path: Path) -> str:
    """Return the hash of a file's bytes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            found.update(piece)
    return "sha256:" + found.hexdigest()


def source_of(source: Source) -> dict[str, Any]:
    """Return a source; with the hash of a local file, which has no revision."""
    said = source.model_dump(mode="json", exclude_defaults=True)
    path = Path(source.path)
    return {**said, "hash": hash_of(path)} if path.is_file() else said


def file_of(path: Path) -> dict[str, Any]:
    """Return lines, bytes and hash of a file."""
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    return {"lines": lines, "bytes": path.stat().st_size, "hash": hash_of(path)}
