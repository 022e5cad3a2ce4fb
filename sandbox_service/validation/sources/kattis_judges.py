"""Reads the judge of a Kattis package, which is its output validator and may interact, and its input validators."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_service.formats.problem import InputValidator
from sandbox_service.schema import JudgeProgram
from sandbox_service.validation.sources import fields
from sandbox_service.validation.sources.rows import Row

CPP = "cpp23"  # the standard with which Kattis compiles: packages name none
LANGUAGES: Mapping[str, str] = {
    "py": "python", "py2": "python2", "py3": "python", "c": "c", "cc": CPP, "cpp": CPP, "cxx": CPP, "c++": CPP,
    "C": CPP, "java": "java", "kt": "kotlin", "rs": "rust", "go": "go", "hs": "haskell", "js": "javascript",
    "ts": "typescript", "ml": "ocaml", "rb": "ruby", "php": "php", "cs": "csharp", "scala": "scala", "pas": "pascal",
    "pl": "perl", "swift": "swift", "lua": "lua", "jl": "julia", "d": "d", "m": "objective-c", "r": "r", "sh": "bash",
}  # fmt: skip
CPP_STANDARDS = ("cpp11", "cpp14", "cpp17", "cpp20", "cpp23")
HEADERS = ("h", "hpp", "hh")
SCRIPTS = ("build", "run")
DEFAULT_PASSES = 2
DEFAULT_SECONDS = 10.0
VALID = 42  # exit status of a validator that accepts
_INTERPRETER = re.compile(r"#!.*\b(python2|python|bash|sh)[\d.]*\s*$", re.MULTILINE)
_PYTHON_2 = re.compile(r"#!.*python2")


@dataclass(frozen=True)
class Judge:
    """The judging of a package.

    Attributes:
        program: its own validator; None for the default one.
        interacts: the validator talks to the program.
    """

    program: JudgeProgram | None = None
    interacts: bool = False


def read(sheet: Row, row: Row, flags: Sequence[str] = ()) -> Judge:
    """Return the judge of a package.

    `validation` says so in the older format; the folder `output_validator` in the newer one, which names its version or
    has a `type`.

    Args:
        sheet: its `problem.yaml`.
        row: what `packages` read.
        flags: the words of the validator's command line that all tests share.

    Raises:
        ValueError: in a way that is not known here.
    """
    validation, kind = str(sheet.get("validation") or "default"), str(sheet.get("type") or "pass-fail")
    if "submit-answer" in kind:
        raise ValueError("the problem is of the type submit-answer")
    interacts = "interactive" in validation or "interactive" in kind
    passes = "multi-pass" in kind or "multipass" in validation or "multi-pass" in validation
    # a folder of validators may also have a README or a licence
    judges = [each for each in fields.listing(row, "judges") if any(map(_is_program, each["files"]))]
    is_newer = "type" in sheet or str(sheet.get("problem_format_version") or "").startswith("20")
    is_custom = validation.startswith("custom") or (is_newer and bool(judges))
    if not (is_custom or interacts or passes):
        return Judge()
    if len(judges) != 1:
        raise ValueError(f"the problem has {len(judges)} validators, and one is needed")
    return Judge(_program(sheet, judges[0]["files"], flags, passes=passes), interacts)


def _program(sheet: Row, files: Sequence[Row], flags: Sequence[str], *, passes: bool) -> JudgeProgram:
    if any(each["name"] in SCRIPTS for each in files):
        raise ValueError("the validator is built by a script, which is not run here")
    mains = list(filter(_is_program, files))
    main = next((each for each in mains if re.match(r"(?:main|validat|output_valid|interact)", each["name"])), None)
    main = main or (mains[0] if mains else None)
    if main is None:
        raise ValueError("the validator has no program")
    given = sheet.get("limits")
    limits = given if isinstance(given, Mapping) else {}
    most = limits.get("validation_passes")
    return JudgeProgram.model_validate(
        {
            "type": "program",
            "language": language_of(main["name"], main["code"]),
            "files": {each["name"]: each["code"] for each in files},
            "main": main["name"],
            "protocol": "kattis",
            "arguments": list(flags),
            "passes": int(most or DEFAULT_PASSES) if passes else 1,
            **_limits(limits),
        }
    )


def input_validator(files: Sequence[Row]) -> InputValidator | None:
    """Return a validator of inputs, or None if its files are not one program that is run here.

    Args:
        files: name and code of each.
    """
    programs = [each for each in files if _is_program(each)]
    if len(programs) != 1 or programs[0]["name"] in SCRIPTS:
        return None
    main = programs[0]
    return InputValidator(
        code=main["code"],
        language=language_of(main["name"], main["code"]),
        files={each["name"]: each["code"] for each in files if each is not main},
        accepts=VALID,
    )


def _limits(limits: Mapping[str, Any]) -> dict[str, Any]:
    """The validator's own limits, if the package states any: seconds, MiB, MiB."""
    names = {"validation_time": "cpu_seconds", "validation_memory": "memory_bytes", "validation_output": "output_bytes"}
    found = {
        ours: float(limits[name]) if ours == "cpu_seconds" else int(float(limits[name]) * (1 << 20))
        for name, ours in names.items()
        if limits.get(name)
    }
    return {"limits": {"cpu_seconds": DEFAULT_SECONDS, **found}} if found else {}


def _is_program(file: Row) -> bool:
    """Return True for a source file that may be a program, and for a script that builds one."""
    return file["name"] in SCRIPTS or language_of(file["name"], file["code"]) in LANGUAGES.values()


def language_of(file: str, code: str) -> str:
    """Return the language of a file, by its name and the first line of its code."""
    if "." not in file and (found := _INTERPRETER.match(code)):
        return {"python2": "python2", "sh": "bash", "bash": "bash"}.get(found[1], "python")
    suffix = file.rpartition(".")[2]
    if suffix == "py" and _PYTHON_2.match(code):
        return "python2"
    return LANGUAGES.get(suffix) or LANGUAGES.get(suffix.lower(), suffix.lower())
