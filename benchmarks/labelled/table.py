"""The table of programs with known verdicts: counts by file, language and label, and every program that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.labelled.cases import Case

MOST_WORDS = 160


@dataclass(frozen=True)
class Judged:
    """A program and its grade.

    Attributes:
        case: the program.
        grade: the service's answer; empty if the program was not sent.
        not_sent: why it was not sent.
        explanation: `class` and `why`, if it is known why its verdict is another one.
    """

    case: Case
    grade: Mapping[str, Any]
    not_sent: str
    explanation: Mapping[str, str] | None

    @property
    def verdict(self) -> str:
        """The verdict; empty if there is none."""
        return str(self.grade.get("verdict") or "")

    @property
    def is_met(self) -> bool:
        """Whether the verdict is one of those expected; `NOT_AC` is any but AC and IE."""
        return self.verdict in self.case.expected or (
            "NOT_AC" in self.case.expected and self.verdict not in ("", "AC", "IE")
        )

    @property
    def is_settled(self) -> bool:
        """Whether the verdict is as labelled, or it is explained why it is not."""
        return self.is_met or self.explanation is not None or bool(self.not_sent)

    @property
    def column(self) -> str:
        """The column of the table that counts it."""
        if self.not_sent:
            return "not run"
        return "as labelled" if self.is_met else "explained" if self.explanation else "other"


COLUMNS = ("as labelled", "explained", "other", "not run")


def lines(found: Sequence[Judged]) -> Iterator[str]:
    """Yield the lines of the table, in Markdown.

    Args:
        found: the programs.
    """
    counts = Counter((each.case.file, each.case.language, "/".join(each.case.expected), each.column) for each in found)
    yield "| file | language | label | " + " | ".join(COLUMNS) + " |"
    yield "|---|---|---|" + "---:|" * len(COLUMNS)
    for key in sorted({key[:3] for key in counts}):
        yield f"| {' | '.join(key)} | {' | '.join(str(counts[(*key, column)]) for column in COLUMNS)} |"
    total = Counter(each.column for each in found)
    yield f"| all | | {len(found)} | {' | '.join(str(total[column]) for column in COLUMNS)} |"
    forgeable = sum(bool(each.grade.get("forgeable")) for each in found)
    if forgeable:
        yield f"\n{forgeable} of the verdicts can be forged (`forgeable`)."
    yield from _reasons(found)


def _reasons(found: Sequence[Judged]) -> Iterator[str]:
    classes = Counter(each.explanation["class"] for each in found if not each.is_met and each.explanation)
    for name, count in sorted(classes.items()):
        yield f"\n{name}: {count}"
        for each in found:
            if not each.is_met and each.explanation and each.explanation["class"] == name:
                yield f"- {each.case.id}: {_got(each)}: {each.explanation['why']}"
    if others := [each for each in found if each.column == "other"]:
        yield "\nnot as labelled, and not explained:"
        yield from (f"- {each.case.id}: {_got(each)}" for each in others)
    for reason, count in sorted(Counter(each.not_sent for each in found if each.not_sent).items()):
        yield f"\nnot run: {count}: {reason}"


def _got(each: Judged) -> str:
    words = each.grade.get("message") or each.grade.get("failure_reason") or ""
    first = str(words).strip().partition("\n")[0][:MOST_WORDS]
    label = "/".join(each.case.expected)
    return f"{each.verdict or each.grade.get('error', 'no verdict')} for {label}" + (f" ({first})" if first else "")
