"""Reads the verdicts that the programs of a Kattis package must get.

They follow from the folder of a program, from words in it for DOMjudge, or from `submissions.yaml`, which is part of
the format since 2023: its keys are patterns of paths, and say which verdicts the tests may have (`permitted`) and of
which one must have one (`required`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.languages import find
from sandbox_service.schema import Grade
from sandbox_service.validation.sources import optional_libraries
from sandbox_service.validation.sources.kattis_judges import CPP
from sandbox_service.validation.sources.rows import Row

SHEET = "submissions.yaml"
ANY_FAILURE = "NOT_AC"
# Right verdicts for the programs of each folder. For Kattis, too much memory is a run time error as well.
VERDICTS: Mapping[str, list[str]] = {
    "accepted": ["AC"],
    "wrong_answer": ["WA"],
    "time_limit_exceeded": ["TLE"],
    "run_time_error": ["RTE", "MLE"],
    "memory_limit_exceeded": ["MLE", "RTE"],
    "output_limit_exceeded": ["OLE"],
    "compiler_error": ["CE"],
    "brute_force": ["TLE", "RTE", "MLE"],
    "rejected": [ANY_FAILURE],
    "partially_accepted": [ANY_FAILURE],
}
RESULTS: Mapping[str, str] = {
    "CORRECT": "accepted",
    "TIMELIMIT": "time_limit_exceeded",
    "RUN_ERROR": "run_time_error",
    "MEMORY_LIMIT": "memory_limit_exceeded",
    "OUTPUT_LIMIT": "output_limit_exceeded",
    "NO_OUTPUT": "wrong_answer",
}
"""DOMjudge's names of results, as those of folders; the others are such names in capitals."""
FOLDERS: Mapping[str, Row] = {
    "accepted": {"permitted": ["AC"]},
    "rejected": {"required": ["RTE", "TLE", "WA"]},
    "wrong_answer": {"permitted": ["AC", "WA"], "required": ["WA"]},
    "time_limit_exceeded": {"permitted": ["AC", "TLE"], "required": ["TLE"]},
    "run_time_error": {"permitted": ["AC", "RTE"], "required": ["RTE"]},
    "brute_force": {"permitted": ["AC", "RTE", "TLE"], "required": ["RTE", "TLE"]},
}
"""The rules that the format has for folders, as `submissions.yaml` writes them."""
OF_A_TEST: Mapping[str, tuple[str, ...]] = {"AC": ("AC",), "WA": ("WA",), "TLE": ("TLE",), "RTE": ("RTE", "MLE")}
LANGUAGES: Mapping[str, str] = {"cpp": CPP, "python2": "python2", "python3": "python"}
"""Codes of languages for which the format and this service have other names."""
ROUNDING = 1e-6  # of scores, which are sums of floating-point numbers
_EXPECTED_RESULTS = re.compile(r"@EXPECTED_RESULTS@:[ \t]*([A-Za-z_, \t-]*)")
_PARTS = re.compile(r"\*|\{[^{}]*\}|[^*{]+|\{")


def expectations_of(folder: Path) -> Row:
    """Return the content of `submissions.yaml`, empty if there is none.

    Args:
        folder: `submissions` of a package.

    Raises:
        ValueError: it is not a mapping.
    """
    path = folder / SHEET
    if not path.is_file():
        return {}
    yaml = optional_libraries.need("yaml", "a problem package", "safe_load")
    found = yaml.safe_load(path.read_bytes()) or {}
    if not isinstance(found, dict):
        raise ValueError(f"{SHEET} is not a mapping of names to values")
    return {str(pattern): rule for pattern, rule in found.items()}


@dataclass(frozen=True)
class Demands:
    """Demands of `submissions.yaml` on a program beside its verdict.

    Attributes:
        scores: least and greatest score of a group of tests; of the problem, if the group's name is empty.
        messages: each must be a part of what the judge says about one of the tests, in any case of letters.
    """

    scores: tuple[tuple[str, float, float], ...] = ()
    messages: tuple[str, ...] = ()

    def are_met(self, grade: Grade) -> bool:
        """Return whether a grade has the scores and the messages. A problem without scores cannot miss them."""
        found = {group.name: group.score for group in grade.groups or ()}
        if grade.score is not None:
            found[""] = grade.score
        said = [(test.message or "").casefold() for test in grade.tests]
        return all(
            least - ROUNDING <= found[group] <= most + ROUNDING for group, least, most in self.scores if group in found
        ) and all(any(each.casefold() in message for message in said) for each in self.messages)


@dataclass(frozen=True)
class Rules:
    """The rules of a package's `submissions.yaml`, by their patterns."""

    found: Row

    def verdicts_of(self, folder: str, name: str, codes: Sequence[str]) -> list[str]:
        """Return the right verdicts of a program.

        Args:
            folder: the name of its folder.
            name: its own name.
            codes: its sources.

        Returns:
            The verdicts: of `submissions.yaml` if that has rules for it, else those that it names for DOMjudge, else
            those of its folder. None if nothing says which.

        Raises:
            ValueError: a rule has a verdict that is not known.
        """
        ruling = [rule for rule in self._matching(folder, name) if {"permitted", "required"} & _keys(rule)]
        if not ruling:
            return verdicts_of(folder, codes)
        default = FOLDERS.get(folder, {})
        if isinstance(own := self.found.get(folder), Mapping):
            return _verdicts([{**default, **own}, *(rule for rule in ruling if rule is not own)])
        return _verdicts([default, *ruling])

    def demands_of(self, folder: str, name: str) -> Demands:
        """Return what the rules ask of a program beside its verdict.

        Args:
            folder: the name of its folder.
            name: its own name.

        Raises:
            ValueError: a score is neither a number nor two.
        """
        rules = self._matching(folder, name)
        parts = [("", rule) for rule in rules]
        parts += [(group, own) for rule in rules for group, own in rule.items() if isinstance(own, Mapping)]
        scores = tuple((group, *_range(rule["score"])) for group, rule in parts if rule.get("score") is not None)
        return Demands(scores, tuple(str(rule["message"]) for _, rule in parts if rule.get("message")))

    def language_of(self, folder: str, name: str) -> str:
        """Return the language that a rule names for a program; empty if none does.

        Args:
            folder: the name of its folder.
            name: its own name.
        """
        code = self._named(folder, name, "language")
        try:
            return LANGUAGES.get(code) or (find(code).name if code else "")
        except UnsupportedLanguageError:
            return code

    def entry_of(self, folder: str, name: str) -> str:
        """Return the file, or the class, that a rule names as the beginning of a program; empty if none does.

        Args:
            folder: the name of its folder.
            name: its own name.
        """
        return self._named(folder, name, "entrypoint")

    def _named(self, folder: str, name: str, key: str) -> str:
        return next((str(rule[key]) for rule in self._matching(folder, name) if rule.get(key)), "")

    def _matching(self, folder: str, name: str) -> list[Row]:
        paths = folder, f"{folder}/{name}"
        rules = [(pattern, rule) for pattern, rule in self.found.items() if isinstance(rule, Mapping)]
        return [rule for pattern, rule in rules if any(map(_expression(pattern).fullmatch, paths))]


def verdicts_of(folder: str, codes: Sequence[str]) -> list[str]:
    """Return the right verdicts of a program: those that it names for DOMjudge, or else those of its folder.

    Args:
        folder: the name of the folder.
        codes: its sources.

    Returns:
        The verdicts; none if it names none and the folder is not known.
    """
    named = next((found[1] for code in codes if (found := _EXPECTED_RESULTS.search(code))), "")
    results = [word.strip().upper().replace("-", "_") for word in named.split(",") if word.strip()]
    folders = [RESULTS.get(result, result.lower()) for result in results] or [folder]
    if any(each not in VERDICTS for each in folders):
        return []
    return list(dict.fromkeys(verdict for each in folders for verdict in VERDICTS[each]))


def _verdicts(rules: Sequence[Row]) -> list[str]:
    """Return the verdicts of a submission whose tests are within all rules; none if any verdict is."""
    permitted, must_fail = set(OF_A_TEST), False
    for rule in rules:
        permitted &= _words(rule, "permitted")
        must_fail |= any("AC" not in _words(each, "required") for each in (rule, *_of_groups(rule)))
    failures = [verdict for test, own in OF_A_TEST.items() if test in permitted - {"AC"} for verdict in own]
    if permitted >= {"WA", "TLE", "RTE"}:
        return [ANY_FAILURE] if must_fail else []
    return failures if must_fail else ["AC"] * ("AC" in permitted) + failures


def _range(score: object) -> tuple[float, float]:
    """The least and the greatest of a rule's scores, which are one number or two."""
    given = score if isinstance(score, list) else [score, score]
    numbers = [float(each) for each in given if isinstance(each, int | float)]
    if len(given) != 2 or len(numbers) != 2:
        raise ValueError(f"{SHEET} has the score {score!r}, which is neither a number nor a range of two")
    return numbers[0], numbers[1]


def _words(rule: Row, key: str) -> set[str]:
    given = rule.get(key)
    words = set(OF_A_TEST) if given is None else {str(each) for each in given}
    if unknown := words - set(OF_A_TEST):
        raise ValueError(f"{SHEET} has the verdict {min(unknown)!r}, which is not known here")
    return words


def _of_groups(rule: Row) -> list[Row]:
    """The rules that a rule has for some of the tests."""
    return [each for each in rule.values() if isinstance(each, Mapping) and _keys(each)]


def _keys(rule: Row) -> set[str]:
    return {*rule, *(key for each in rule.values() if isinstance(each, Mapping) for key in each)}


def _expression(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern of paths, which has `*` for a part of a name, and choices in braces."""
    return re.compile("".join(map(_part, _PARTS.findall(pattern))))


def _part(part: str) -> str:
    if part == "*":
        return "[^/]*"
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(map(re.escape, part[1:-1].split(',')))})"
    return re.escape(part)
