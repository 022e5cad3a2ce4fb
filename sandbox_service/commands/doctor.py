"""`proctor doctor`: prints findings as lines while they are made, or all of them as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from sandbox_service.doctor import examination
from sandbox_service.doctor.preflight import Finding, Level
from sandbox_service.settings import Settings

STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}
STATUS = {Level.OK: 0, Level.WARNING: 1, Level.PROBLEM: 2}
LEVEL_WIDTH, NAME_WIDTH = 9, 18


def run(settings: Settings, *, as_json: bool) -> int:
    """Examine this machine and print the findings.

    Args:
        settings: The settings to examine.
        as_json: True to print JSON.

    Returns:
        0 without findings, 1 with warnings only, 2 with problems.
    """
    return _json(settings) if as_json else _lines(settings)


def _json(settings: Settings) -> int:
    findings = list(examination.examine(settings))
    worst = _worst(findings)
    print(json.dumps({"status": worst, "findings": [asdict(finding) for finding in findings]}, indent=2))
    return STATUS[worst]


def _lines(settings: Settings) -> int:
    console = Console(highlight=False, soft_wrap=True)
    findings: list[Finding] = []
    for finding in examination.examine(settings):
        findings.append(finding)
        for line in lines(finding):
            console.print(line)
    console.print(summary(findings))
    return STATUS[_worst(findings)]


def lines(finding: Finding) -> list[Text]:
    """Return the finding as lines; the last one is the command that fixes it."""
    found = Text(f"{finding.level:<{LEVEL_WIDTH}}", STYLES[finding.level])
    found.append(f"{finding.name:<{NAME_WIDTH}}{finding.text}", "default")
    mend = [Text(f"{'':<{LEVEL_WIDTH + NAME_WIDTH}}mend: {finding.mend}", "bold")] if finding.mend else []
    return [found, *mend]


def summary(findings: list[Finding]) -> str:
    """Return the last line, with the number of findings."""
    levels = Counter(finding.level for finding in findings)
    counted = [(levels[level], level) for level in (Level.PROBLEM, Level.WARNING) if levels[level]]
    return ", ".join(f"{count} {level}{'s' if count > 1 else ''}" for count, level in counted) or "all is well"


def _worst(findings: list[Finding]) -> Level:
    return max((finding.level for finding in findings), key=lambda level: STATUS[level])
