"""Problem packages that are zip files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from sandbox_service.commands import grade, grade_package
from sandbox_service.commands.grade import GradeOptions
from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.settings import Settings
from sandbox_service.validation import sources
from sandbox_service.validation.sources import archives
from tests.conftest import need_firejail
from tests.validation.sources.reading import one
from tests.validation.sources.test_judged_packages import POLYGON
from tests.validation.sources.test_packages import FILES

pytest.importorskip("yaml")


def zipped(path: Path, files: dict[str, str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("folder", "suffix"), [("", "zip"), ("double/", "zip"), ("another name/", "zip"), ("double.kpp/", "kpp")]
)
def test_a_zip_file_is_the_package_in_it(tmp_path: Path, folder: str, suffix: str) -> None:
    files = {f"{folder}{name}": text for name, text in FILES.items()}
    made = one(zipped(tmp_path / "set" / f"double.{suffix}", files | {"__MACOSX/._double": "x"}))
    assert made.id == "kattis/double"
    assert made.provenance is not None
    assert (made.provenance.dataset, made.provenance.row) == ("set", "double")
    assert len(made.tests or ()) == 3


def test_a_folder_of_zip_files_is_a_data_set(tmp_path: Path) -> None:
    zipped(tmp_path / "set" / "a.zip", FILES)
    zipped(tmp_path / "set" / "b.zip", POLYGON)
    made = [each for each in sources.read(str(tmp_path / "set"), "") if isinstance(each, Problem)]
    assert [each.id for each in made] == ["kattis/a"]  # one reader for a data set
    assert [each.id for each in sources.read(str(tmp_path / "set" / "b.zip")) if isinstance(each, Problem)] == [
        "polygon/double"
    ]


def test_a_zip_file_is_opened_for_its_programs(tmp_path: Path) -> None:
    with grade_package.opened(zipped(tmp_path / "double.zip", FILES)) as folder:
        assert folder is not None
        made = grade_package.read(folder)
        assert {each.path.name for each in grade_package.solutions(made, folder, [])} >= {"right.py", "four.py"}
    assert not folder.exists()
    with grade_package.opened(tmp_path / "problem.json") as other:
        assert other is None


def test_a_program_in_a_zip_file_is_named_after_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_firejail()
    kept = {name: text for name, text in FILES.items() if "submissions" not in name or name.endswith("right.py")}
    path = zipped(tmp_path / "double.zip", kept)
    assert grade.run(GradeOptions(path, [], as_json=True, jobs=1), Settings(first_uid=61850)) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["id"] == str(path / "submissions" / "accepted" / "right.py")


@pytest.mark.parametrize(
    ("kind", "why"), [("link", "is a link"), ("large", "are the most"), ("broken", "cannot be unpacked")]
)
def test_what_cannot_be_unpacked_is_refused(
    tmp_path: Path, kind: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "double.zip", FILES)
    if kind == "link":
        link = zipfile.ZipInfo("double/data/secret/z.in")
        link.external_attr = 0o120777 << 16
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(link, "/etc/passwd")
    if kind == "large":
        monkeypatch.setattr(archives, "MOST_ROW_BYTES", 10)
    if kind == "broken":
        content = path.read_bytes()
        path.write_bytes(content[:60] + b"\0\0\0\0" + content[64:])
    with pytest.raises(ConfigurationError, match=why):
        list(sources.read(str(path)))


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    path = zipped(tmp_path / "double.zip", {"../../escaped": "x", "/absolute": "x", **FILES})
    with archives.unpacked(path) as folder:
        assert {each.name for each in folder.rglob("*")} >= {"escaped", "absolute", "problem.yaml"}
    assert not (tmp_path / "escaped").exists()
