"""Rows are read from every kind of file; a bad row is reported and skipped, a bad file is an error."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import zstandard

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed, jsonlines, jsonrecords, optional_libraries
from sandbox_service.validation.sources.rows import Found
from tests.validation.sources.published import LIVECODEBENCH, OURS, TACO

Pack = Callable[[bytes], bytes]

PACKINGS: dict[str, Pack] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def named(number: int) -> dict[str, Any]:
    return OURS | {"id": f"double {number}"}


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def ids(found: Iterator[Problem | Malformed]) -> list[str]:
    return [each.reason if isinstance(each, Malformed) else each.id for each in found]


def records(text: bytes, **more: int) -> list[str]:
    """The rows in a text, by their `n`; for malformed ones the reason."""
    return [told(each) for each in jsonrecords.rows(BytesIO(text), "file", **more)]


def told(each: Found | Malformed) -> str:
    return each.reason if isinstance(each, Malformed) else str(each.row["n"])


@pytest.mark.parametrize("suffix", PACKINGS)
@pytest.mark.parametrize("kind", [".jsonl", ".ndjson", ".json"])
def test_text_is_read_packed_or_not(tmp_path: Path, kind: str, suffix: str) -> None:
    rows = [named(1), named(2)]
    text = json.dumps(rows, indent=1).encode() if kind == ".json" else lines(*rows)
    path = tmp_path / f"mine{kind}{suffix}"
    path.write_bytes(PACKINGS[suffix](text))
    first, second = sources.read(str(path), revision="r1")
    assert isinstance(first, Problem)
    assert isinstance(second, Problem)
    assert (first.id, second.id) == ("double 1", "double 2")
    assert second.provenance is not None
    assert second.provenance.model_dump() == {
        "dataset": path.name, "revision": "r1", "row": "2", "reader": "problem", "url": "",
    }  # fmt: skip


def test_frames_and_members_follow_each_other(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst"):
        path = tmp_path / f"mine.jsonl{suffix}"
        path.write_bytes(b"".join(PACKINGS[suffix](lines(named(number))) for number in range(3)))
        assert ids(sources.read(str(path))) == ["double 0", "double 1", "double 2"]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_was_cut_off_is_an_error_after_its_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine.jsonl{suffix}"
    path.write_bytes(PACKINGS[suffix](lines(*map(named, range(9000))))[:-20])
    found = sources.read(str(path))
    assert isinstance(next(found), Problem)
    with pytest.raises(ConfigurationError, match="cannot be read to its end"):
        list(found)


def test_a_file_that_is_not_packed_as_it_is_called_is_an_error(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst"):
        path = tmp_path / f"mine.jsonl{suffix}"
        path.write_bytes(lines(OURS))
        with pytest.raises(ConfigurationError, match="cannot be read to its end"):
            list(sources.read(str(path)))


def test_a_bad_line_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    bad = [
        b'{"id": \n',
        b"\n",
        b"[1]\n",
        b"\xff\n",
        b'{"id": "x", "prompt": 3, "tests": []}\n',
        b"[" * 10**5 + b"\n",
        b"null\n",
    ]
    path.write_bytes(b"\xef\xbb\xbf" + lines(named(1)) + b"".join(bad) + lines(named(2)))
    found = list(sources.read(str(path)))
    malformed = [each for each in found if isinstance(each, Malformed)]
    assert [each.id for each in found if isinstance(each, Problem)] == ["double 1", "double 2"]
    assert [each.place for each in malformed] == [f"{path}:{number}" for number in (2, 4, 5, 6, 7, 8)]
    reasons = [each.reason for each in malformed]
    assert reasons[0].startswith("not a JSON object: Expecting value")
    assert reasons[1] == "not a JSON object: it is a list"
    assert "can't decode byte 0xff" in reasons[2]
    assert "prompt should be a string" in reasons[3]
    assert reasons[4].startswith("not a JSON object:")
    assert reasons[5] == "not a JSON object: it is null"
    assert malformed[3].row == "id: 'x', prompt: 3, tests: <list>"
    assert len(malformed[4].row) <= 300


def test_a_line_too_long_is_passed_over() -> None:
    text = lines({"n": 1}) + b'{"n": "' + b"x" * 5000 + b'"}\n' + lines({"n": 3})
    found = list(jsonlines.rows(BytesIO(text), "file", most_bytes=1000))
    assert [told(each) for each in found] == ["1", "the line has more than 1000 bytes", "3"]


@pytest.mark.parametrize(
    "text",
    [
        b'[{"n": 1}, {"n": 2}]',
        b'  [\n {"n": 1}\n,{"n": 2}\n]\n',
        b'{"n": 1}{"n": 2}',
        b'{"n": 1}\n{"n": 2}\n',
        b'\xef\xbb\xbf[{"n": 1},{"n": 2}]',
        b'[{"n": 1, "s": "]}\\"{[\\\\"}, {"n": 2, "l": [[{}], {"a": "\\\\\\""}]}]',
    ],
)
def test_records_are_a_list_or_follow_each_other(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1, 2, 3, 7, 1 << 20):  # wherever a chunk ends
        monkeypatch.setattr(jsonrecords, "CHUNK_BYTES", size)
        assert records(text) == ["1", "2"]


def test_records_that_are_none_are_told() -> None:
    reasons = records(b'[{"n": 1}, 3, null, "a\\"b", {"n": 2,}, [1], {"n": 3}]')
    assert [reasons[0], reasons[-1]] == ["1", "3"]
    assert all(reason.startswith("not a JSON object") for reason in reasons[1:-1])
    assert len(reasons) == 7


@pytest.mark.parametrize("text", [b"", b"[]", b" \n"])
def test_no_records_are_none(text: bytes) -> None:
    assert records(text) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'[{"n": 1}, {"n": 2}', "in the middle of the list"),
        (b'[{"n": 1}, {"n": ', "in the middle of a record"),
        (b'[{"n": 1}, {"n": "', "in the middle of a record"),
        (b'[{"n": 1}] {"n": 2}', "something follows"),
        (b'{"n": 1}]', "not opened"),
        (b'[{"n": 1}}', "not opened"),
    ],
)
def test_brackets_that_do_not_match_are_an_error(text: bytes, reason: str) -> None:
    with pytest.raises(EOFError, match=reason):
        records(text)


def test_a_record_that_never_ends_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrecords, "CHUNK_BYTES", 1000)

    class Endless(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return b'{"n": ['[: size or 0] + b"[" * ((size or 8) - 7)

    with pytest.raises(EOFError, match="more than 100000 bytes"):
        list(jsonrecords.rows(Endless(), "file", most_bytes=100_000))


def test_parquet_is_read_in_batches(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table.from_pylist([TACO | {"question": f"Double {n}."} for n in range(40)])
    path = tmp_path / "taco.parquet"
    parquet.write_table(table, path, row_group_size=15)
    found = [each for each in sources.read(str(path)) if isinstance(each, Problem)]
    assert len(found) == 40
    assert found[39].prompt is not None
    assert found[39].prompt.endswith("Double 39.")
    assert found[39].provenance is not None
    assert found[39].provenance.row == "40"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ConfigurationError, match="not a parquet file, or damaged after row 0"):
        list(sources.read(str(path)))


def test_a_folder_is_all_its_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.jsonl").write_bytes(lines(named(2)))
    (tmp_path / "data" / "a.json").write_bytes(lines(named(1)))
    (tmp_path / "README.md").write_text("nothing")
    assert ids(sources.read(str(tmp_path))) == ["double 1", "double 2"]


def test_a_reader_that_is_named_reads_what_is_not_its_own_as_malformed(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(lines(OURS, LIVECODEBENCH))
    assert ids(sources.read(str(path), "livecodebench")) == ["field 'question_id' is missing", "livecodebench/abc1_a"]


def test_the_first_row_decides_for_all(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"{}\n"[:1] + b"\n" + lines(OURS, TACO))
    first, second, third = ids(sources.read(str(path)))
    assert first.startswith("not a JSON object")
    assert second == "double"
    assert "id is missing" in third


def test_a_licence_is_given_where_rows_do_not_say(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(lines(OURS, OURS | {"licence": ""}))
    first, second = sources.read(str(path), options={"licence": "MIT"})
    assert isinstance(first, Problem)
    assert isinstance(second, Problem)
    assert (first.licence, second.licence) == ("CC0-1.0", "MIT")


def test_where_a_problem_was_from_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(lines(OURS | {"provenance": {"dataset": "hers", "row": "9"}, "source": ""}))
    (found,) = sources.read(str(path))
    assert isinstance(found, Problem)
    assert found.provenance is not None
    assert (found.provenance.dataset, found.provenance.row, found.source) == ("hers", "9", "mine")


@pytest.mark.parametrize(
    ("name", "more", "reason"),
    [
        ("nowhere.jsonl", {}, "no such file or folder"),
        ("./owner/name", {}, "no such file or folder"),
        ("folder", {}, "no problem package in it"),
        ("file.csv", {}, "unknown kind of file"),
        ("file.jsonl", {"reader": "tacos"}, "no reader 'tacos'; there are: problem"),
        ("file.jsonl", {"split": "train"}, "split, config and files are for the hub"),
        ("file.jsonl", {"options": {"limit": 3}}, "unknown option 'limit'; there are: config, files, licence"),
    ],
)
def test_what_cannot_be_read_is_said_at_once(tmp_path: Path, name: str, more: dict[str, Any], reason: str) -> None:
    (tmp_path / "folder").mkdir()
    for file in ("file.csv", "file.jsonl"):
        (tmp_path / file).touch()
    with pytest.raises(ConfigurationError, match=reason):
        sources.read(name if name.startswith(".") else str(tmp_path / name), **more)


def test_an_unknown_form_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(lines({"colour": "red"}))
    with pytest.raises(ConfigurationError, match=r"mine\.jsonl:1: no reader knows rows with the fields colour"):
        list(sources.read(str(path)))


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match=r"parquet needs the library no_such: pip install 'proctor\[data\]'"):
        optional_libraries.need("no_such.parquet", "parquet", "ParquetFile")


def test_a_folder_that_hides_a_library_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hidden_library").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigurationError, match="a folder in the working directory"):
        optional_libraries.need("hidden_library", "the hub", "load_dataset")
