"""Reads which checker judges a DMOJ problem: one of DMOJ's own, by name, a program, or a function in Python.

DMOJ's own become built-in checkers where these compare in the same way, and else functions that do. A problem's own
function gets the arguments that DMOJ gives, with its test's points as 1, and stand-ins for the modules of DMOJ that
such functions import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_service.schema import Checker, JudgeProgram
from sandbox_service.validation.sources.kattis_judges import CPP_STANDARDS, HEADERS, language_of

DEFAULT_PRECISION = 6
ERROR_MODES: Mapping[str, str] = {"floatsabs": "absolute", "floatsrel": "relative"}
MAIN = "proctor_check.py"
CALLED_AS_TESTLIB = ("testlib", "default")
"""Types of bridged checkers whose command line is testlib's, and 0 right and 1 wrong."""

_BUILT_IN: Mapping[str, Checker] = {
    "standard": Checker(type="token_lines"),
    "identical": Checker(type="exact"),
    "rstripped": Checker(type="lines"),
    "unordered": Checker(type="unordered_tokens"),
}
_WITHOUT_EFFECT = ("feedback", "pe_allowed")

_LINES = """import re
def lines_of(text):
    return [line for line in re.split("[\\r\\n]", text) if line]
"""
_FUNCTIONS: Mapping[str, str] = {
    "sorted": _LINES
    + """def parts_of(text, split_on="lines"):
    return text.split() if split_on == "whitespace" else sorted(line.split() for line in lines_of(text))
def check(input, output, answer):
    return sorted(parts_of(output, **ARGUMENTS)) == sorted(parts_of(answer, **ARGUMENTS))
""",
    "easy": """from collections import Counter
def check(input, output, answer):
    return Counter("".join(output.split()).lower()) == Counter("".join(answer.split()).lower())
""",
    "linecount": _LINES
    + """def check(input, output, answer):
    got, wanted = lines_of(output), lines_of(answer)
    if len(got) > len(wanted):
        return False
    right = sum(one.strip() == other.strip() for one, other in zip(got, wanted))
    return right == len(wanted) or right / len(wanted)
""",
    "linematches": _LINES
    + """def share_of(got, wanted, point_distribution=[1], filler_lines_required=True):
    if len(wanted) != len(point_distribution) or sum(point_distribution) == 0:
        raise ValueError("the points are for another number of lines")
    if filler_lines_required and len(got) != len(wanted):
        return 0
    points = sum(points for one, other, points in zip(got, wanted, point_distribution) if one == other)
    return points / sum(point_distribution)
def check(input, output, answer):
    return share_of(lines_of(output), lines_of(answer), **ARGUMENTS)
""",
}
"""DMOJ's checkers that no built-in one repeats. ARGUMENTS are those of the sheet."""

_OWN = """import importlib, sys, types

class CheckerResult:
    def __init__(self, passed, points, feedback=None, extended_feedback=None):
        self.passed, self.points, self.feedback = passed, points, feedback

class InternalError(Exception):
    pass

def utf8bytes(text):
    return text if text is None or isinstance(text, bytes) else str(text).encode()

def utf8text(text, errors="strict"):
    return text.decode("utf-8", errors) if isinstance(text, bytes) else text

def stand_in(name, **content):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(content, __path__=[])

stand_in("dmoj")
stand_in("dmoj.utils")
stand_in("dmoj.error", InternalError=InternalError)
stand_in("dmoj.result", CheckerResult=CheckerResult)
stand_in("dmoj.utils.unicode", utf8bytes=utf8bytes, utf8text=utf8text)

def check(input, output, answer):
    given = dict(judge_input=input.encode(), point_value=1.0, submission_source=b"", submission_language="",
                 binary_data=False, execution_time=0.0, problem_id="", case_position=1, batch=0)
    found = importlib.import_module(NAME).check(output.encode(), answer.encode(), **{**given, **ARGUMENTS})
    if not isinstance(found, CheckerResult):
        return bool(found)
    message = found.feedback or ""
    if found.points in (0, 1) or not found.passed and found.points >= 1:
        return bool(found.passed) and found.points == 1, message
    return float(found.points), message
"""


def read(given: object, files: Mapping[str, str]) -> Checker | JudgeProgram:
    """Return the checker.

    Args:
        given: `checker` of the sheet: a name, or a name and its arguments; None for DMOJ's standard.
        files: the texts of the problem's sources, by name.

    Raises:
        ValueError: the name is not known here, or no checker compares as it does.
    """
    name, arguments = (given.get("name"), given.get("args") or {}) if isinstance(given, Mapping) else (given, {})
    name = "standard" if name is None else str(name)
    arguments = {key: value for key, value in arguments.items() if key not in _WITHOUT_EFFECT}
    if name in ("floats", *ERROR_MODES):
        return _floats(name, arguments)
    if name == "bridged":
        return bridged("checker", arguments, files)
    if name in _FUNCTIONS and "match" not in arguments:
        return _function({MAIN: f"ARGUMENTS = {arguments!r}\n{_FUNCTIONS[name]}"})
    if name.endswith(".py") and name in files:
        source = f"NAME, ARGUMENTS = {name.removesuffix('.py')!r}, {arguments!r}\n{_OWN}"
        return _function({MAIN: source, name: files[name]})
    if name in _BUILT_IN and not arguments:
        return _BUILT_IN[name]
    raise ValueError(f"there is no checker that compares as DMOJ's {name!r}" + (" with arguments" if arguments else ""))


def _function(files: dict[str, str]) -> JudgeProgram:
    return JudgeProgram(type="program", protocol="function", main=MAIN, files=files)


def _floats(name: str, arguments: Mapping[str, Any]) -> Checker:
    tolerance = 10.0 ** -float(arguments.get("precision", DEFAULT_PRECISION))
    mode = ERROR_MODES.get(name, str(arguments.get("error_mode", "default")))
    if mode not in ("default", "absolute", "relative"):
        raise ValueError(f"the error_mode {mode!r} is not known")
    bound = "float_tolerance" if mode == "default" else f"{mode}_tolerance"
    return Checker.model_validate({"type": "token_lines", bound: tolerance, "integers_too": True})


def bridged(what: str, arguments: Mapping[str, Any], files: Mapping[str, str]) -> JudgeProgram:
    """Return the program of a checker or an interactor.

    Args:
        what: `checker` or `interactor`.
        arguments: its files, and in `type` how it is called.
        files: the texts of the problem's sources, by name.

    Raises:
        ValueError: it is called in a way that is not known here, or a file is missing.
    """
    kind = str(arguments.get("type") or "default")
    if kind not in (CALLED_AS_TESTLIB if what == "checker" else ("testlib",)):
        raise ValueError(f"a bridged {what} of the type {kind!r} is not known here")
    if other := next((name for name in ("args", "flags") if arguments.get(name)), None):
        raise ValueError(f"a bridged {what} has {other}, which is not known here")
    named = arguments.get("files")
    names = [str(each) for each in named] if isinstance(named, list) else [str(named)]
    if lacking := next((each for each in names if each not in files), None):
        raise ValueError(f"the {what}'s file {lacking} is not there")
    main = next((each for each in names if each.rpartition(".")[2] not in HEADERS), names[0])
    standard = str(arguments.get("lang") or "").lower()
    return JudgeProgram(
        type="program",
        language=standard if standard in CPP_STANDARDS else language_of(main, files[main]),
        protocol="testlib",
        main=main,
        files={name: files[name] for name in names},
    )
