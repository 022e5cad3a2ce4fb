"""Turns a problem into the question to a tester, and reads the test cases in the answer, whose form is strict.

The question has the statement without its examples: copies of them are valid test cases that need no thought. They are
recognised by headings, so examples in running text stay.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from trainer.data import Problem
from trainer.errors import ConfigError

ASK = """Below is a programming problem. Do not solve it. Write {cases} test cases for programs that claim to solve it.
A right program must pass all of them; a wrong program should fail at least one. Derive each output step by step, and \
think of cases that programs get wrong.

Give the test cases at the end, in one fenced code block, as a JSON array of exactly {cases} objects:

```json
[{"input": "all of standard input", "output": "all of standard output"}]
```

The problem:

{statement}"""

EXAMPLE = re.compile(
    r"\W*(?:sample|example)s?(?:\s*(?:input|output|test|case)s?)*(?:\s*#?\d+)?\W*(?::.*)?", re.IGNORECASE
)
AFTER = re.compile(
    r"\W*(?:constraint|limit|scoring|subtask|(?:input|output) (?:format|specification)|follow-?up)s?\W*(?::.*)?",
    re.IGNORECASE,
)
LEAST_SHARE = 0.25  # of a statement that must be left; AstraFlow has the same bound
CASE_BYTES = 1 << 16  # of input and output together
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)

WRITTEN = TypeAdapter(list[dict[Literal["input", "output"], str]])

Case = Mapping[str, str]  # a stdin test of sandbox_service.schema


def question_for(problem: Problem, ask: str, cases: int) -> Problem:
    """Return the problem as a question (ask; empty: ASK) for so many test cases. Raise ConfigError for other tests."""
    if others := {test["type"] for test in problem.grading.get("tests", ())} - {"stdin"}:
        raise ConfigError(
            f"{problem.place}: testers write tests of the type stdin, and the problem has tests of the type "
            f"{', '.join(sorted(others))}: leave the problem out, or set duel.testers = 0"
        )
    *turns, last = problem.messages
    text = (ask or ASK).replace("{cases}", str(cases)).replace("{statement}", without_examples(last["content"]))
    asked: Mapping[str, str] = {**last, "content": text}
    return replace(problem, messages=[*turns, asked], text=None if problem.text is None else text)


def without_examples(statement: str) -> str:
    """Return a statement without examples and the notes that follow them, the whole if less than a quarter is left."""
    rest, is_example = "", False
    for line in statement.splitlines(keepends=True):
        text = line.rstrip()
        is_example = bool(EXAMPLE.fullmatch(text)) or (is_example and not AFTER.fullmatch(text))
        rest += "" if is_example else line
    return rest if len(rest) >= LEAST_SHARE * len(statement) else statement


def parse_cases(text: str, count: int) -> list[Case] | None:
    """Return the `count` test cases of an answer, None if it is no JSON array of {"input": text, "output": text}.

    The array is the last fenced block, or the whole answer, without a part that ends with `</think>`.
    """
    answer = text.rpartition("</think>")[2]
    blocks = FENCE.findall(answer)
    try:
        found = WRITTEN.validate_json(blocks[-1] if blocks else answer, strict=True)
    except ValidationError:
        return None
    is_short = all(len("".join(each.values()).encode()) <= CASE_BYTES for each in found)
    if len(found) != count or not is_short or any(len(each) != 2 for each in found):
        return None
    return [{"type": "stdin", "input": each["input"], "output": each["output"]} for each in found]
