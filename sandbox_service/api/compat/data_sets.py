"""The classes of data sets of SandboxFusion: which one a request means, and in which language its programs are.

A request names a class (`config.dataset_type`), a data set, or neither; then the fields of the row tell. A class that
is not served is refused by its name, because its rows may look like another's.
"""

from __future__ import annotations

import re

from sandbox_service.errors import BadRequestError

AUTO_EVAL, COMMON_OJ, HUMAN_EVAL, LIVE_CODE_BENCH, MBPP, MHPP, NCB = (
    "AutoEval",
    "CommonOJ",
    "HumanEval",
    "LiveCodeBench",
    "MBPP",
    "MHPP",
    "NaturalCodeBench",
)
CLASSES = {
    "AutoEvalDataset": AUTO_EVAL,
    "AutoEvalV4Dataset": AUTO_EVAL,
    "AutoEvalV5Dataset": AUTO_EVAL,
    "AutoEvalV6Dataset": AUTO_EVAL,
    "AutoEvalV7Dataset": AUTO_EVAL,
    "CommonOJDataset": COMMON_OJ,
    "HumanEvalDataset": HUMAN_EVAL,
    "HumanEvalDeprecatedDataset": HUMAN_EVAL,
    "EvoEvalDataset": HUMAN_EVAL,
    "BigCodeBenchDataset": HUMAN_EVAL,
    "LiveCodeBenchDataset": LIVE_CODE_BENCH,
    "MBXPDataset": AUTO_EVAL,
    "MultiPLEDataset": HUMAN_EVAL,
    "MBPPDataset": MBPP,
    "MHPPDataset": MHPP,
    "NaturalCodeBenchDataset": NCB,
}
NAMES = (
    (
        re.compile(r"(?:shadow_|open_)*(?:humaneval|multiple)(?:_form)?_\w+|evoeval|bigcodebench", re.IGNORECASE),
        HUMAN_EVAL,
    ),
    (re.compile(r"mbpp", re.IGNORECASE), MBPP),
    (re.compile(r"mhpp", re.IGNORECASE), MHPP),
    (re.compile(r"ncb_\w+", re.IGNORECASE), NCB),
    (re.compile(r"can_it_edit\w*|(?:mbxp|humanevalds)_v\d_en|oodtest_v\d_zh", re.IGNORECASE), AUTO_EVAL),
    (re.compile(r"live_code_bench_v\d+", re.IGNORECASE), LIVE_CODE_BENCH),
)
NOT_SERVED = re.compile(
    r"(?:cruxeval|minif2f|verilogeval|repobench|aider_benchmark|palmath)\w*",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"(?:shadow_|open_)*(?:humaneval|multiple)(?:_form)?_(\w+)", re.IGNORECASE)

# names that only SandboxFusion and MultiPL-E use
ALIASES = {"go_test": "go", "go_test.go": "go", "R": "r", "D_ut": "d"}


def kind_of(data_set: str, class_name: str | None) -> str | None:
    """Return the kind of data set that a request names, or None if it names none.

    Args:
        data_set: The name of the data set.
        class_name: The class, `config.dataset_type`.

    Raises:
        BadRequestError: The class is not served.
    """
    if class_name:
        if class_name not in CLASSES:
            served = ", ".join(sorted(CLASSES))
            raise BadRequestError(f"config.dataset_type: {class_name[:60]!r} is not served; there is: {served}")
        return CLASSES[class_name]
    if NOT_SERVED.fullmatch(data_set):
        raise BadRequestError(f"dataset: rows of {data_set[:60]!r} are judged by a class that is not served")
    return next((kind for pattern, kind in NAMES if pattern.fullmatch(data_set)), None)


def language_in(data_set: str) -> str:
    """Return the language in the name of a data set such as `humaneval_cpp`; empty if it names none."""
    found = _LANGUAGE.fullmatch(data_set)
    return found[1] if found else ""


def language_of(*named: str | None) -> str:
    """Return the first language that is named, without SandboxFusion's own spelling; Python if none is."""
    name = next((each for each in named if each), "python")
    return ALIASES.get(name, name)
