"""Whole data sets of programs with known verdicts, in several languages and with judges: as labelled, or explained.

The data are not part of the project (see the fixture `data`); without them this is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled import HEADERS, explanations
from benchmarks.labelled.cases import cases
from benchmarks.labelled.table import Judged, lines
from tests.conftest import running_service

FILES = ("humanevalpack_cpp_0_59", "humanevalpack_java_0_59", "judges_public")


@pytest.mark.full
@pytest.mark.parametrize("name", FILES)
def test_every_program_has_its_verdict_or_an_explanation(data: Path, name: str) -> None:
    wanted = list(cases(data / f"{name}.jsonl"))
    known = explanations()
    with running_service(judge_libraries=HEADERS) as service:
        sent = [{"id": case.id, **case.body} for case in wanted if case.body is not None]
        grades = service.client.batch(sent)
    found = [Judged(case, grades.get(case.id, {}), case.why_not, known.get(case.id)) for case in wanted]
    assert sum(bool(each.grade) for each in found) > len(wanted) / 2, "most languages are missing on this machine"
    assert all(each.is_settled for each in found), "\n".join(lines(found))
