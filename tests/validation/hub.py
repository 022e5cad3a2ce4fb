"""A hub in a folder: the data sets that the recipes name, with a few rows each in their columns, files and
configurations.

The rows were written for these tests.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import pickle
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import StdinTest
from tests.validation.world import letters, sums, words

pyarrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")
jsonlines: Any = pytest.importorskip("pyarrow.json")
yaml: Any = pytest.importorskip("yaml")

Row = dict[str, Any]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHECKER = """import sys
texts = [open(name).read().split() for name in sys.argv[1:4]]
print(1 if texts[1] == texts[2] else 0)
"""
MULTIPLY = "a, b = map(int, input().split())\nprint(a * b)"


@dataclass(frozen=True)
class Repository:
    """Files with their rows. `configs` maps splits to files, as the card does; None stands for a loading script."""

    files: dict[str, Sequence[Row]]
    configs: dict[str, dict[str, str]] = field(default_factory=dict)


# --- rows


def product(**changes: Any) -> Problem:
    """Another problem that reads standard input."""
    asked = (
        "Bricks are laid in rows, and each row has as many bricks as every other. For the wall that is to be built "
        "tomorrow the two whole numbers of rows and of bricks in a row are given. Print how many bricks are needed."
    )
    pairs = [(1, 2), (10, 20), (0, 5), (5, 3), (100, 25), (7, 7)]
    tests = [{"type": "stdin", "input": f"{a} {b}\n", "output": f"{a * b}\n"} for a, b in pairs]
    return Problem.model_validate(
        {"id": "product", "prompt": asked, "tests": tests, "solutions": [{"code": MULTIPLY}], **changes}
    )


def pairs_of(problem: Problem, most: int | None = None) -> list[tuple[str, str]]:
    return [(each.input, str(each.output)) for each in (problem.tests or [])[:most] if isinstance(each, StdinTest)]


def codeforces(name: str, checker: str) -> Row:
    """A row of open-r1/codeforces; with a checker, another question is asked."""
    asked = product()
    statement = words().prompt if checker else asked.prompt
    tests = [{"input": given, "output": wanted} for given, wanted in pairs_of(words() if checker else asked)]
    return {
        "id": name, "contest_id": name.partition("/")[0], "index": name[-1], "time_limit": 1.0, "memory_limit": 256.0,
        "title": name, "description": statement, "input_format": "Whole numbers.", "output_format": "The answer.",
        "interaction_format": None, "note": None, "examples": tests[:1], "rating": 800, "tags": ["math"],
        "official_tests": tests, "official_tests_complete": True, "input_mode": "stdio",
        "generated_checker": checker or None, "executable": True,
    }  # fmt: skip


def columns(problem: Problem, most: int | None = None) -> str:
    inputs, outputs = zip(*pairs_of(problem, most), strict=True)
    return json.dumps({"inputs": inputs, "outputs": outputs})


def records(problem: Problem, kind: str) -> str:
    return json.dumps([{"input": given, "output": wanted, kind: "stdin"} for given, wanted in pairs_of(problem)])


def verl(source: str, prompt: str, truth: str, index: int, ability: str = "code", **more: Any) -> Row:
    return {
        "data_source": source,
        "prompt": [{"role": "user", "content": prompt}],
        "ability": ability,
        "reward_model": {"style": "rule", "ground_truth": truth},
        "extra_info": {"split": "train", "index": index, **more},
    }


def verl_code(problem: Problem, index: int, most: int | None = None, **more: Any) -> Row:
    return verl("code", problem.prompt or "", columns(problem, most), index, **more)


def deepcoder(problem: Problem, tests: str, **more: Any) -> Row:
    solutions = {"solutions": [f"```python\n{each.code}\n```" for each in problem.references]}
    return {"problem": problem.prompt, "tests": tests, **solutions, **more}


def livecodebench(problem: Problem, day: str) -> Row:
    """Two public tests; the others hidden and compressed."""
    tests = json.loads(records(problem, "testtype"))
    return {
        "question_title": problem.id,
        "question_content": problem.prompt,
        "platform": "atcoder",
        "question_id": f"abc_{problem.id}",
        "contest_id": "abc",
        "contest_date": f"{day}T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps(tests[:2]),
        "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests[2:])))).decode(),
        "metadata": "{}",
    }


def humaneval(number: int, code: str, doc: str, asserted: Sequence[str], is_plus: bool = False) -> Row:
    """`code`: the one-line body of a function."""
    head, _, body = code.partition("\n")
    lines = [f"    assert {each}" for each in asserted]
    test = "def check(candidate):\n" + ("    inputs = [[1, 2]]\n" if is_plus else "") + "\n".join(lines) + "\n"
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'{head}\n    """{doc}"""\n',
        "entry_point": head.removeprefix("def ").partition("(")[0],
        "canonical_solution": body + "\n",
        "test": test,
    }


def mbpp(number: int, asked: str, code: str, asserted: Sequence[str]) -> Row:
    return {
        "task_id": number,
        "text": asked,
        "code": code,
        "test_list": list(asserted),
        "test_setup_code": "",
        "challenge_test_list": [],
    }


def asserted(expressions: Sequence[str], name: str) -> list[str]:
    return [f"assert {each.replace('candidate', name)}" for each in expressions]


def mbpp_plus(row: Row, program: str) -> Row:
    return {
        "task_id": row["task_id"],
        "code": row["code"],
        "prompt": row["text"],
        "source_file": "Benchmark Questions Verification V2.ipynb",
        "test_imports": [],
        "test_list": row["test_list"],
        "test": program,
    }


SHIFTED = "def shifted(a: int, b: int) -> int:\n    return a + 10 * b"
ASKED_SHIFTED = "The first number, and ten times the second one more."
OF_SHIFTED = [f"candidate({a}, {b}) == {a + 10 * b}" for a, b in [(1, 2), (0, 0), (-3, 1), (5, 5), (2, -7)]]
JOINED = "def joined(texts: list) -> str:\n    return '-'.join(sorted(texts))"
ASKED_JOINED = "All of the texts in alphabetical order, with a dash between each of them and the next."
OF_JOINED = [
    f"candidate({each!r}) == {'-'.join(sorted(each))!r}"
    for each in (["b", "a"], [], ["q"], ["x", "y", "a"], ["dd", "d", "ddd"])
]
WRONG = "def third(n: int) -> int:\n    return n // 2"
ASKED_WRONG = "A third of the whole number, without what is left over when it is divided by three."
OF_WRONG = [f"candidate({n}) == {n // 3}" for n in (3, 10, 33, 100, 8)]
POLY = "def root(n: int) -> int:\n    return _poly(n)"
OF_POLY = ["_poly(candidate(1)) == 0"]

PICK = "class Solution:\n    def pick(self, xs: List[int], k: int) -> List[int]:\n        return xs[:k]\n"
ASKED_PICK = (
    "Somebody stands before a shelf of books, each with a number on its back, and takes the leftmost k of them. "
    "Given the list xs of the numbers from left to right, return the list of those that were taken, in that order."
)
CALLS_OF_PICK = [([3, 4], 1), ([], 0), ([1, 2, 3], 2), ([9], 1), ([5, 6, 7, 8], 3), ([2, 2], 0)]
CHECK_PICK = "def check(candidate):\n" + "".join(
    f"    assert candidate(xs = {xs}, k = {k}) == {xs[:k]}\n" for xs, k in CALLS_OF_PICK
)

SHEEP = "A shepherd has twelve sheep and sells a quarter of them on Monday. How many sheep has the shepherd left then?"
TRAIN = "A train needs three hours for two hundred and ten kilometres. How many kilometres does it make in an hour?"
EXAM = (
    "Find the number of positive integers below one thousand that are divisible by seven and by eleven, and whose "
    "digits, read from the last one to the first, give an integer that is greater than the one that was begun with."
)


def asked_of_mathematics(question: str, answer: str, index: int) -> Row:
    return verl("math", question, answer, index, "math")


# --- repositories

HUMANEVAL = [humaneval(0, SHIFTED, ASKED_SHIFTED, OF_SHIFTED), humaneval(1, JOINED, ASKED_JOINED, OF_JOINED)]
MBPP = [
    mbpp(11, ASKED_SHIFTED, SHIFTED, asserted(OF_SHIFTED[:3], "shifted")),
    mbpp(12, ASKED_JOINED, JOINED, asserted(OF_JOINED[:3], "joined")),
    mbpp(13, ASKED_WRONG, WRONG, asserted(OF_WRONG[:3], "third")),
]

REPOSITORIES: dict[str, Repository] = {
    "Fate-Zero/Archer2.0-Math-1.5B": Repository(
        {
            "train/archer2.0-math-1.5b-train.json": [
                asked_of_mathematics(SHEEP, "9", 0),
                asked_of_mathematics(TRAIN, "70", 1),
                asked_of_mathematics(EXAM, "12", 2),
            ]
        }
    ),
    "HuggingFaceH4/aime_2024": Repository(
        {
            "data/train-00000-of-00001.parquet": [
                {"id": 60, "problem": EXAM, "solution": "Count them.", "answer": "12", "url": "", "year": "2024"}
            ]
        },
        {"default": {"train": "data/train-*"}},
    ),
    "HuggingFaceH4/MATH-500": Repository(
        {
            "test.jsonl": [
                {"problem": "What is the sum of the first five odd numbers?", "solution": "$\\boxed{25}$"}
                | {"answer": "25", "subject": "Algebra", "level": 1, "unique_id": "test/algebra/1.json"}
            ]
        },
        {"default": {"test": "test.jsonl"}},
    ),
    "open-r1/codeforces": Repository(
        {"verifiable/train-00000.parquet": [codeforces("1/A", ""), codeforces("1/B", CHECKER)]},
        {"verifiable": {"train": "verifiable/train-*"}},
    ),
    "wizardII/ArcherCodeR-Dataset": Repository(
        {
            "train/archercoder-1.5b-train.json": [
                verl_code(sums(), 0),
                verl("code", words().prompt or "", records(words(), "testtype"), 1),
                verl_code(letters(), 2, most=2),
            ]
        }
    ),
    "Fate-Zero/Archer2.0-Code-1.5B": Repository(
        {
            "train/archer2.0-code-1.5b-train.json": [
                verl_code(sums(), 3),  # a duplicate
                verl_code(letters(), 4, original_id="a17"),  # a field that the others do not have
                verl_code(product(), 5),  # LiveCodeBench has it
            ]
        }
    ),
    "livecodebench/code_generation_lite": Repository(
        {
            "test.jsonl": [livecodebench(product(), "2024-07-31"), livecodebench(product(id="later"), "2024-08-01")],
            "test5.jsonl": [livecodebench(product(id="last"), "2025-01-31")],
            "test6.jsonl": [
                livecodebench(product(id="next"), "2025-02-01"),
                livecodebench(product(id="end"), "2025-05-01"),
            ],
        }
    ),
    "ganler/code-r1-12k": Repository(
        {
            "train.parquet": [
                verl(
                    "code",
                    ASKED_PICK,
                    json.dumps({"functional": f"{CHECK_PICK}\n\ncheck(Solution().pick)\n"}),
                    0,
                    "coding",
                    reference=PICK,
                    dataset="LeetCodeDataset",
                ),
                verl_code(words(), 1, reference=words().references[0].code, dataset="TACO-verified"),
                verl_code(letters(), 2, reference="print(input())", dataset="TACO-verified"),
                verl_code(sums(), 3, reference=sums().references[0].code, dataset="TACO-verified"),
            ]
        },
        {"default": {"train": "train.parquet"}},
    ),
    "agentica-org/DeepCoder-Preview-Dataset": Repository(
        {
            "primeintellect/train-00000-of-00001.parquet": [
                deepcoder(words(), records(words(), "type")),
                deepcoder(product(), records(product(), "type")),  # Codeforces has it
            ],
            "taco/train-00000-of-00001.parquet": [
                deepcoder(sums(), columns(sums())),
                deepcoder(words(), columns(words())),  # a duplicate
            ],
            "lcbv5/train-00000-of-00001.parquet": [
                {"problem": letters().prompt, "starter_code": "", "tests": records(letters(), "testtype")}
                | {"metadata": {"func_name": None}}
            ],
            "lcbv5/test-00000-of-00001.parquet": [
                {"problem": ASKED_PICK, "starter_code": "", "tests": records(product(), "testtype")}
                | {"metadata": {"func_name": None}}
            ],
            "codeforces/test-00000-of-00001.parquet": [
                {"problem": product().prompt, "tests": records(product(), "testtype")}
            ],
        },
        {
            "codeforces": {"test": "codeforces/test-*"},
            "lcbv5": {"train": "lcbv5/train-*", "test": "lcbv5/test-*"},
            "primeintellect": {"train": "primeintellect/train-*"},
            "taco": {"train": "taco/train-*"},
        },
    ),
    "openai/openai_humaneval": Repository(
        {"openai_humaneval/test-00000-of-00001.parquet": [*HUMANEVAL, humaneval(2, WRONG, ASKED_WRONG, OF_WRONG)]},
        {"openai_humaneval": {"test": "openai_humaneval/test-*"}},
    ),
    "evalplus/humanevalplus": Repository(
        {
            "data/test-00000-of-00001.parquet": [
                humaneval(0, SHIFTED, ASKED_SHIFTED, [*OF_SHIFTED, "candidate(11, 12) == 131"], is_plus=True),
                humaneval(32, POLY, "A root of the polynomial whose number is given.", OF_POLY, is_plus=True),
            ]
        },
        {"default": {"test": "data/test-*"}},
    ),
    "google-research-datasets/mbpp": Repository(
        {"full/test-00000-of-00001.parquet": MBPP, "sanitized/test-00000-of-00001.parquet": MBPP[:1]},
        {"full": {"test": "full/test-*"}, "sanitized": {"test": "sanitized/test-*"}},
    ),
    "evalplus/mbppplus": Repository(
        {"data/test-00000-of-00001.parquet": [mbpp_plus(MBPP[0], "\n".join(asserted(OF_SHIFTED, "shifted")))]},
        {"default": {"test": "data/test-*"}},
    ),
}


def build(root: Path) -> None:
    """Write all repositories as folders with cards. The first of several configurations is the default."""
    for name, repository in REPOSITORIES.items():
        for path, rows in repository.files.items():
            place = root / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(place, rows)
        configs = [
            {"config_name": config, "data_files": [{"split": split, "path": path} for split, path in splits.items()]}
            | ({"default": True} if config == "full" else {})
            for config, splits in repository.configs.items()
        ]
        (root / name / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': configs} if configs else {})}---\n")


def _write(place: Path, rows: Sequence[Row]) -> None:
    if place.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), place)
    elif place.suffix == ".jsonl":
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        place.write_text(json.dumps(list(rows)))


# --- libraries

Stream = Iterator[Row]


class StandIn:
    """Replaces the used part of `datasets`, on that folder: splits by the card, types as Arrow infers them."""

    exceptions = SimpleNamespace(DatasetsError=RuntimeError)

    def __init__(self, root: Path) -> None:
        self._root = root

    def load_dataset(
        self,
        path: str,
        name: str | None = None,
        *,
        data_files: str = "",
        split: str,
        revision: str = "",
        streaming: bool,
    ) -> Stream:
        """Rows of a split, or of files in one of the library's own forms."""
        assert streaming, "a data set may be larger than the disk"
        if data_files:
            assert path in ("json", "parquet"), "a form of the library"
            assert split == "train", "what files without a card are"
            folder, _, pattern = local(data_files, self._root).partition("*")
            return _rows_of(
                self._root, str(Path(folder + "*" + pattern if pattern else folder).relative_to(self._root))
            )
        assert revision == COMMIT
        return _rows_of(self._root, f"{path}/{self._pattern(path, name, split)}")

    def _pattern(self, path: str, name: str | None, split: str) -> str:
        card = (self._root / path / "README.md").read_text().split("---\n")[1]
        configs = {each["config_name"]: each for each in yaml.safe_load(card).get("configs", ())}
        default = [each for each, said in configs.items() if said.get("default") or len(configs) == 1]
        wanted = name or "".join(default)
        if wanted not in configs:
            raise ValueError(f"Config name is missing or unknown: {wanted!r} of {list(configs)}")
        files = {each["split"]: each["path"] for each in configs[wanted]["data_files"]}
        if split not in files:
            raise ValueError(f"Bad split: {split}. Available splits: {list(files)}")
        return str(files[split])


class Real:
    """The real library on that folder; only the hub's address differs."""

    def __init__(self, library: Any, root: Path) -> None:
        self._library = library
        self._root = root
        self.exceptions = library.exceptions

    def load_dataset(self, path: str, name: str | None = None, *, data_files: str = "", **named: Any) -> Any:
        """As it is, but from here."""
        named.pop("revision", None)  # a folder has none
        if data_files:
            return self._library.load_dataset(path, data_files=local(data_files, self._root), **named)
        return self._library.load_dataset(str(self._root / path), name, **named)


def local(address: str, root: Path) -> str:
    """The path in the folder of a file on the hub."""
    before = "hf://datasets/"
    assert address.startswith(before)
    name, _, rest = address.removeprefix(before).partition(f"@{COMMIT}/")
    assert rest, "a file is named at its commit"
    return str(root / name / rest)


def _rows_of(root: Path, pattern: str) -> Stream:
    files = sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file())
    found = [each for each in files if fnmatch.fnmatch(each, pattern)]
    if not found:
        raise FileNotFoundError(f"Couldn't find any data file at {pattern}")
    for each in found:
        yield from _table(root / each).to_pylist()


def _table(path: Path) -> Any:
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    if path.suffix == ".jsonl":
        return jsonlines.read_json(path)
    return pyarrow.Table.from_pylist(json.loads(path.read_text()))
