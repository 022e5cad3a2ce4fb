"""Builds manifest.json of a strengthening: sources, counts, strength before and after, hashes of the files.

All fields except `run` are equal for equal data, recipe and verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandbox_service.strengthen.totals import Totals
from sandbox_service.validation import manifest
from sandbox_service.validation.recipe import Recipe


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
        "sources": [manifest.source_of(each) for each in recipe.sources],
        "problems": {
            "read": totals.read,
            "left_out": dict(sorted(totals.left_out.items())),
            "malformed": totals.malformed,
            "strengthened": totals.strengthened,
            "unchanged": dict(sorted(totals.unchanged.items(), key=lambda each: (-each[1], each[0]))),
            "not_judged": totals.not_judged,
            "with_single_reference": totals.single,
        },
        "tests": {"added": totals.added, "audit": totals.audit},
        "inputs": dict(sorted(totals.forms.items())),
        "strength": {name: share.line() for name, share in totals.shares.items()},
        "kinds": {
            name: {"refused_before": before, "refused_after": after, "programs": programs}
            for name, (before, after, programs) in sorted(totals.kinds.items())
        },
        "files": {path.name: manifest.file_of(path) for path in files},
        "run": {
            **run,
            "programs": totals.programs,
            "tests": totals.tests,
            "cpu_seconds": round(totals.cpu_seconds, 3),
            **({"cpu_seconds_a_problem": manifest.summary(totals.seconds)} if totals.seconds else {}),
        },
    }
