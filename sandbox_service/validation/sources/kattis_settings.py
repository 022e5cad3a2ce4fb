"""Reads the settings of a Kattis package (`problem.yaml`) and of its folders (`testdata.yaml`, `test_group.yaml`).

Some settings do not matter here (validators of inputs, feedback, pictures). Any other that is not known is refused,
since it may change verdicts.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_service.validation.sources import fields
from sandbox_service.validation.sources.rows import Row

KINDS = frozenset(("pass-fail", "scoring", "interactive", "multi-pass", "submit-answer"))
VALIDATIONS = frozenset(("default", "custom", "interactive", "score", "multi-pass", "multipass"))
LEGACY = frozenset(("on_reject", "grading", "grader_flags", "accept_score", "reject_score", "range"))
NEWER = frozenset(("max_score", "score_aggregation", "require_pass", "static_validation_score"))
FLAGS = frozenset(("output_validator_flags", "output_validator_args"))
VALIDATOR_ARGUMENTS = ("input_validator_flags", "input_validator_args")
OF_DOMJUDGE = {"special_compare": "compare", "special_run": "run"}
"""Settings of `domjudge-problem.ini` that name programs of the contest system, and the usual ones."""
WITHOUT_EFFECT = frozenset(
    (*VALIDATOR_ARGUMENTS, "static_validator_args", "input_visualizer_args",
     "output_visualizer_args", "full_feedback", "hint", "description", "name", "run_samples")
)  # fmt: skip
OF_ITS_OWN = NEWER | {"name"}
"""Settings that a folder does not have from the folder above it."""


def check_sheet(sheet: Row, row: Row) -> None:
    """Refuse settings of `problem.yaml`, and folders of a package, that are not supported.

    Args:
        sheet: `problem.yaml`.
        row: what `packages` read.

    Raises:
        ValueError: there is such a thing.
    """
    _check_words("type", _words(sheet.get("type")), KINDS)
    _check_words("validation", _words(sheet.get("validation")), VALIDATIONS)
    grading = sheet.get("grading")
    if isinstance(grading, Mapping) and str(grading.get("objective") or "max") != "max":
        raise ValueError("its objective is the least score; only a greatest score is supported")
    for name, usual in OF_DOMJUDGE.items():
        if (program := fields.mapping(row, "domjudge").get(name, usual)) != usual:
            raise ValueError(f"it is judged by the program {program!r} of a DOMjudge ({name}), which is not in it")
    beside = fields.listing(row, "beside")
    if "include" in beside:
        raise ValueError("its programs are compiled with files of its folder include, which is not supported")
    if "static_validator" in beside:
        raise ValueError("a static_validator judges the source of its programs, which is not supported")
    if sheet.get("constants") and any(
        "{{" in file["code"] for each in fields.listing(row, "judges") for file in each["files"]
    ):
        raise ValueError("constants are to be put into its validator, which is not supported")


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else str(value or "").split()


def _check_words(name: str, words: Sequence[str], known: frozenset[str]) -> None:
    if unknown := [word for word in words if word not in known]:
        raise ValueError(f"its {name} has the word {unknown[0]!r}, which is not known here")


class Settings:
    """The settings of the folders of a package's tests.

    Attributes:
        is_scored: the tests give points.
        is_newer: scores are set as the format has it since 2023. Drafts of that format have the older settings.
    """

    def __init__(self, sheet: Row, row: Row) -> None:
        """Read the settings.

        Args:
            sheet: `problem.yaml`.
            row: what `packages` read.

        Raises:
            ValueError: one is not known here.
        """
        found: Mapping[str, Row] = row.get("groups") or {}
        self._folders = {"" if name == "." else name: settings for name, settings in found.items()}
        for name, settings in self._folders.items():
            _check_settings(name or "data", settings)
        self.is_scored = "scoring" in _words(sheet.get("type")) or "score" in _words(sheet.get("validation"))
        version = str(sheet.get("problem_format_version") or "legacy")
        names = frozenset().union(*self._folders.values())
        self.is_newer = bool(NEWER & names) or (version.startswith("20") and not LEGACY & names)
        given = sheet.get("validator_flags") or fields.mapping(row, "domjudge").get("special_compare_args")
        self._flags = _flags(given)
        self._check_verdicts()

    def of(self, folder: str) -> Row:
        """Return the settings of a folder below `data`; those of the folders above it where it has none.

        Args:
            folder: its path; empty for `data` itself.
        """
        parts = folder.split("/") if folder else []
        above = [self._folders.get("/".join(parts[:count]), {}) for count in range(len(parts))]
        found = {key: value for each in above for key, value in each.items() if key not in OF_ITS_OWN}
        return {**found, **self._folders.get(folder, {})}

    def that_count(self, tests: Sequence[Row]) -> list[Row]:
        """Return the tests that decide: without the samples, if the package ignores these.

        Args:
            tests: all tests.
        """
        if "ignore_sample" not in str(self.of("").get("grader_flags") or "").split():
            return list(tests)
        return [test for test in tests if not str(test["name"]).startswith("sample/")] or list(tests)

    def flags_of(self, test: Row) -> list[str]:
        """Return the words of the output validator's command line for a test.

        Args:
            test: the test.

        Raises:
            ValueError: the test's settings ask for what is not done here.
        """
        name, own = str(test["name"]), test.get("settings") or {}
        _check_settings(name, own, of_a_test=True)
        if test.get("beside"):
            raise ValueError(f"the test {name} gives its program {test['beside'][0]}, which is not supported")
        settings = {**self.of(name.rpartition("/")[0]), **own}
        if settings.get("args"):
            raise ValueError(f"the test {name} gives its program arguments, which is not supported")
        words = settings.get("output_validator_args") or settings.get("output_validator_flags") or ""
        if isinstance(words, Mapping):
            words = words.get("flags") or ""
        return [*self._flags, *_flags(words)]

    def _check_verdicts(self) -> None:
        """Refuse a problem without points whose groups accept although a test failed."""
        for name in () if self.is_scored else self._folders:
            flags = str(self._folders[name].get("grader_flags") or "").split()
            if unmet := [flag for flag in flags if flag in ("accept_if_any_accepted", "always_accept")]:
                raise ValueError(f"data/{name} is accepted although tests failed ({unmet[0]}), which is not supported")


def _check_settings(name: str, settings: Row, *, of_a_test: bool = False) -> None:
    known = FLAGS | WITHOUT_EFFECT | {"args"} | (frozenset() if of_a_test else LEGACY | NEWER)
    if unknown := [key for key in settings if key not in known]:
        raise ValueError(f"the settings of {name} have {unknown[0]!r}, which is not known here")
    if str(settings.get("grading") or "default") != "default":
        raise ValueError(f"a grader of the package decides about {name}, which is not supported")
    if settings.get("static_validation_score") is not None:
        raise ValueError(f"the settings of {name} score the source of programs, which is not supported")
    if float(_number(settings, "reject_score") or 0.0) != 0.0:
        raise ValueError(f"the settings of {name} give points to wrong outputs (reject_score), which is not supported")


def _flags(given: object) -> list[str]:
    """Return the words of a command line, which is a text or a list."""
    return [str(each) for each in given] if isinstance(given, list) else shlex.split(str(given or ""))


def _number(settings: Mapping[str, Any], name: str) -> float | None:
    value = settings.get(name)
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {str(value)[:40]!r}, which is no number") from None
