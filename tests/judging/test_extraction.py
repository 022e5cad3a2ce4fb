"""Extraction of the answer from a completion: fences, reasoning, answer tags, and hostile completions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sandbox_service.judging.extraction import LONGEST_BOX, extract
from sandbox_service.judging.fences import MOST_FENCES
from sandbox_service.schema import ExtractionRule

MEGABYTE = 1 << 20
RULES: list[ExtractionRule] = ["last_block", "first_block", "all_blocks", "answer_tag", "whole"]
BLOCK_RULES: list[ExtractionRule] = ["last_block", "first_block", "all_blocks"]
TWO = "First:\n```python\na = 1\n```\nThen:\n```py\nb = 2\n```\nDone."


@pytest.mark.parametrize(
    ("rule", "code"),
    [("last_block", "b = 2"), ("first_block", "a = 1"), ("all_blocks", "a = 1\nb = 2"), ("whole", TWO)],
)
def test_which_block(rule: ExtractionRule, code: str) -> None:
    assert extract(TWO, rule, "python") == code


@pytest.mark.parametrize(
    "tag", ["python", "py", "python3", "Python", "PY", "", " python", "python title=x", "python\t"]
)
def test_tags_of_python(tag: str) -> None:
    for rule in BLOCK_RULES:
        assert extract(f"```{tag}\nx\n```", rule, "python") == "x"


@pytest.mark.parametrize("tag", ["cpp", "text", "pythonx", "output", "python2", "console"])
def test_a_block_of_another_language_is_not_taken(tag: str) -> None:
    assert extract(f"```{tag}\nx\n```", "last_block", "python") is None
    assert extract(f"```python\ny\n```\n```{tag}\nx\n```", "last_block", "python") == "y"
    assert extract(f"```{tag}\nx\n```\n```python\ny\n```", "first_block", "python") == "y"


@pytest.mark.parametrize(("language", "tag"), [("cpp", "c++"), ("javascript", "js"), ("Haskell", "haskell")])
def test_other_languages_have_their_tags(language: str, tag: str) -> None:
    assert extract(f"```{tag}\nx\n```", "last_block", language) == "x"
    assert extract("```python\nx\n```", "last_block", language) is None


FENCES = [
    ("~~~python\nx\n~~~", "x"),
    ("\ufeff```python\nx\n```", "x"),
    ("````python\n```\nx\n```\n````", "```\nx\n```"),
    ("```python\nx\n`````", "x"),
    ("```python\n~~~\n```", "~~~"),
    ("~~~\n```\n~~~", "```"),
    ("```python\nx\n``` \t\nafter", "x"),
    ("```python\nx\n```<|im_end|>\n<|endoftext|>", "x"),
    ("```python\nx\n```</s> more", None),
    ("```python\ns = '```'\n```", "s = '```'"),
    ("```python\n``` not a close\n```", "``` not a close"),
    ("   ```python\n   x\n     y\n  ```", "x\n  y"),
    ("  ```python\n x\n  ```", "x"),
    ("    ```python\n    x\n    ```", None),
    ("\t```python\nx\n```", None),
    ("```python\n    ```\n```", "    ```"),
    ("text ```python\nx\n```", None),
    ("```x = 1```", None),
    ("``python\nx\n``", None),
    ("~~~python `a`\nx\n~~~", "x"),
    ("```python\n\n  x\n\n```", "\n  x\n"),
    ("```python\nx", None),
    ("```python\nx\n``", None),
    ("```python\nx\n~~~", None),
    ("````python\nx\n```", None),
    ("```python\nx\n```\n```python\ny", "x"),
    ("```python\n```", None),
    ("```python\n \t\n```", None),
    ("x = 1", None),
    ("", None),
    ("```python\na\x0bb\u2028c\n```", "a\x0bb\u2028c"),
]


@pytest.mark.parametrize(("completion", "code"), FENCES)
def test_fences_are_those_of_commonmark_but_must_close(completion: str, code: str | None) -> None:
    assert extract(completion, "last_block", "python") == code


@pytest.mark.parametrize(("completion", "code"), FENCES)
def test_crlf_makes_no_difference(completion: str, code: str | None) -> None:
    assert extract(completion.replace("\n", "\r\n"), "last_block", "python") == code


DRAFT = "```python\ndraft\n```"
FINAL = "```python\nfinal\n```"
THINKING = [
    (f"<think>{DRAFT}</think>{FINAL}", "final"),
    (f"<think>\n{DRAFT}\n</think>\n{FINAL}", "final"),
    (f"\n{DRAFT}\n</think>\n{FINAL}", "final"),
    (f"<think>\n{DRAFT}\n</think>\nno block", None),
    (f"<think>\na </think> b\n{DRAFT}\n</think>\n{FINAL}", "final"),
    (f"<think>\na </think>\n{DRAFT}\n</think>", None),
    (f"<think>\n{DRAFT}", None),
    (f"{DRAFT}\n<think>\nhm", None),
    (f"<think>a</think>\n{FINAL}\n<think>\n{DRAFT}", None),
    (f"<think>a</think>\n<think>b</think>\n{FINAL}", "final"),
]


@pytest.mark.parametrize(("completion", "code"), THINKING)
def test_a_program_in_the_reasoning_is_no_answer(completion: str, code: str | None) -> None:
    for rule in BLOCK_RULES:
        assert extract(completion, rule, "python") == code


ANSWERS = [
    (f"<answer>\n{FINAL}\n</answer>", "final"),
    (f"<answer>\n{DRAFT}\nor\n{FINAL}\n</answer>\n", "final"),
    (f"<answer>\n{DRAFT}\n</answer>\n<answer>\n{FINAL}\n</answer>", "final"),
    (f"<answer>\n{FINAL}\n</answer>\n{DRAFT}", "final"),
    ("<answer>print(1)</answer>", "print(1)"),
    ("<answer>```python\nx\n```</answer>", "x"),
    ("<answer>\nprint(1)\n</answer>", "\nprint(1)\n"),
    ("<answer>```x```</answer>", "```x```"),
    (FINAL, None),
    (f"<answer>\n{FINAL}", None),
    (f"{FINAL}\n</answer>", None),
    ("</answer> <answer>", None),
    ("<answer> \n </answer>", None),
    ("<answer>\n```python\nx\n</answer>", None),
    ("<answer>\n```cpp\nx\n```\n</answer>", None),
    (f"<think>\n<answer>\n{DRAFT}\n</answer>\n</think>\n", None),
    (f"<think>\n<answer>\n{DRAFT}\n</answer>\n</think>\n<answer>\n{FINAL}\n</answer>", "final"),
    (f"<think>\n<answer>\n{FINAL}\n</answer>", None),
]


@pytest.mark.parametrize(("completion", "code"), ANSWERS)
def test_answer_tags(completion: str, code: str | None) -> None:
    assert extract(completion, "answer_tag", "python") == code


@given(completion=st.text())
def test_the_whole_is_the_whole(completion: str) -> None:
    assert extract(completion, "whole", "python") == completion


@given(
    completion=st.lists(
        st.sampled_from(["```", "````", "~~~", "python", "\n", "\r\n", " ", "x", "<think>", "</think>"])
    )
)
def test_code_is_always_part_of_the_answer(completion: list[str]) -> None:
    text = "".join(completion).replace("\r\n", "\n")
    for rule in ("last_block", "first_block"):
        code = extract("".join(completion), rule, "python")
        if code is not None:
            lines = [line.lstrip(" ") for line in text.split("\n")]
            assert all(line.lstrip(" ") in lines for line in code.split("\n"))
            assert code.strip()


@given(code=st.text(alphabet="x `~\n'", min_size=1).filter(str.strip), mark=st.sampled_from("`~"))
def test_any_code_survives_in_a_fence_that_is_long_enough(code: str, mark: str) -> None:
    longest = max((len(run) for run in re.findall(f"{re.escape(mark)}+", code)), default=0)
    fence = mark * max(3, longest + 1)
    for rule in BLOCK_RULES:
        assert extract(f"So:\n\n{fence}python\n{code}\n{fence}\nDone.", rule, "python") == code


HOSTILE = [
    "`" * MEGABYTE,
    "~" * MEGABYTE,
    "```\n" * (MEGABYTE // 4) + "x",
    "`\n" * (MEGABYTE // 2),
    " " * MEGABYTE,
    (" " * 3 + "```\n") * (MEGABYTE // 8) + " ",
    "```python " + "x `" * (MEGABYTE // 3),
    "<think>" * (MEGABYTE // 7),
    "<answer>" * (MEGABYTE // 8),
    "</answer>" * (MEGABYTE // 9),
    "```python\n" + "\n" * MEGABYTE,
    "\r" * MEGABYTE,
]


@pytest.mark.parametrize("rule", [*BLOCK_RULES, "answer_tag"])
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_answers_hold_no_program(rule: ExtractionRule, number: int) -> None:
    """Quadratic time would take hours here."""
    assert extract(HOSTILE[number], rule, "python") is None


BOXED = [
    (r"\boxed{5}", "5"),
    (r"\boxed {5}", "5"),
    (r"\boxed{ 5 }", "5"),
    (r"\boxed{1} then \boxed{2}", "2"),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (r"\boxed{\{1,2\}}", r"\{1,2\}"),
    (r"\boxed{\left\{1\right.}", r"\left\{1\right."),
    (r"\boxed{a\\}", r"a\\"),
    (r"\boxed{\boxed{5}}", "5"),
    (r"\fbox{5}", "5"),
    (r"\boxed{1}, not \fbox{2}", "1"),
    (r"$$\boxed{5}$$ is it }", "5"),
    ("\\boxed{1,\n2}", "1,\n2"),
    ("<think>\\boxed{1}</think> \\boxed{2}", "2"),
    ("\\boxed{1}</think> \\boxed{2}", "2"),
    ("<think>\\boxed{1}</think> it is 1", None),
    ("<think>\\boxed{1}", None),
    (r"\boxed{1} \boxed{2", None),
    (r"\boxed{\}", None),
    (r"\boxed 5", None),
    (r"\boxed", None),
    (r"\boxed{}", None),
    (r"\boxed{ }", None),
    ("5", None),
]


@pytest.mark.parametrize(("completion", "answer"), BOXED)
def test_what_is_in_the_box(completion: str, answer: str | None) -> None:
    assert extract(completion, "boxed", "text") == answer


def test_a_thought_may_have_to_be_finished() -> None:
    rule: ExtractionRule = "boxed_after_thinking"
    assert extract("\\boxed{1}", rule, "text") is None
    assert extract("\\boxed{1}</think>", rule, "text") is None
    assert extract("hm</think>\\boxed{1}", rule, "text") == "1"


def test_hostile_boxes_take_no_time() -> None:
    for text in ("\\boxed{" * 100_000, "\\boxed{" + "{" * MEGABYTE, "\\" * MEGABYTE, "\\boxed{" + "{}" * 500_000):
        assert extract(text, "boxed", "text") is None


IN_CONTAINERS: list[tuple[str, str | None]] = [
    ("- Solution:\n\n    ```python\n    x\n      y\n    ```", "x\n  y"),
    ("- Solution:\n  ```python\n  x\n    y\n  ```", "x\n  y"),
    ("1. Solution:\n   ```python\n   x\n   ```", "x"),
    ("10. Solution:\n    ```python\n    x\n    ```", "x"),
    ("- a\n  - b\n    - c\n      ```python\n      x\n        y\n      ```\n", "x\n  y"),
    ("- ```python\n  x\n  ```", "x"),
    ("1. ```python\n   x\n    y\n   ```", "x\n y"),
    ("* + 1) ```py\n       x\n       ```", "x"),
    ("> ```python\n> x\n>   y\n> ```", "x\n  y"),
    (">```python\n>x\n>```", "x"),
    ("> > ```python\n> > x\n> > ```", "x"),
    ("> - ```python\n>   x\n>   ```", "x"),
    ("- > ```python\n  > x\n  > ```", "x"),
    ("> - a\n>\n>     ```python\n>     x\n>     ```", "x"),
    ("> ```python\n> x\n```", None),
    ("> ```python\n> x\n\n> y\n> ```", None),
    ("- a\n\nparagraph\n\n    ```python\n    x\n    ```", None),
    ("- a\n\n      ```python\n      x\n      ```", None),
    ("- ```python\n  x\ny\n  ```", None),
    ("- ```python\n\n  x\n\n  ```", "\nx\n"),
    ("-\t```python\n\tx\n\t\ty\n\t```", "x\n    y"),
    ("-     ```python\n      x\n      ```", None),
    ("-```python\nx\n```", None),
    ("1. a\n2. b\n\n   text\n\n    ```python\n    x\n    ```", "x"),
    ("- a\n    ```python\n    x\n    ```\n- b\n    ```python\n    y\n    ```", "y"),
]
INFO_STRINGS: list[tuple[str, str | None]] = [
    ("```{.python}\nx\n```", "x"),
    ('```{.python .numberLines startFrom="1"}\nx\n```', "x"),
    ("```{#a .python}\nx\n```", "x"),
    ("```py,linenos\nx\n```", "x"),
    ("```Python 3\nx\n```", "x"),
    ('```python title="x"\nx\n```', "x"),
    ("```python3.11\nx\n```", "x"),
    ("```python{1,3-4}\nx\n```", "x"),
    ("```python:main.py\nx\n```", "x"),
    ("``` {python}\nx\n```", "x"),
    ("```{python, echo=FALSE}\nx\n```", "x"),
    ("```python2.7\nx\n```", None),
    ("```py3.12\nx\n```", "x"),
    ("```PYTHON3\nx\n```", "x"),
    ("```{linenos=true}\nx\n```", "x"),
    ("```.python\nx\n```", "x"),
    ("```python(main)\nx\n```", "x"),
    ("```pythonx,py\nx\n```", None),
]
MARKERS_IN_PROGRAMS: list[tuple[str, str | None]] = [
    ("<think>hm</think>\n```python\ns = '</think>'\n```", "s = '</think>'"),
    ("<think>hm</think>\n```python\ns = '<think>'\n```", "s = '<think>'"),
    ("```python\ns = '</think>'\n```", "s = '</think>'"),
    ("```python\ns = '<think>'\n```", "s = '<think>'"),
    ("```python\ns = '<think>' + '</think>'\n```", "s = '<think>' + '</think>'"),
    ("```python\ns = '</think>' + '<think>'\n```", "s = '</think>' + '<think>'"),
    ("<think>\n```python\ndraft\n</think>\n```python\nfinal\n```", "final"),
    ("```python\ndraft\n</think>\n```python\nfinal\n```", "final"),
    ("```python\ndraft\n</think>\n```\nfinal\n```", "final"),
    ("<think>\n```python\ndraft = '</think>'\n```\nok\n</think>\n```python\nfinal\n```", "final"),
    (
        "<think>\n```python\ndraft = '</think>'\n```\nok\n</think>\n```python\nfinal = '</think>'\n```",
        "final = '</think>'",
    ),
    ("ok</think>\n```python\nfinal = '</think>'\nz\n```\nOutput:\n```text\n1\n```", "final = '</think>'\nz"),
    (
        "ok</think>\n```python\nfinal = '''\n</think>\n'''\nz\n```\nOutput:\n```\n1\n```\nDone",
        "final = '''\n</think>\n'''\nz",
    ),
    ("<think>a</think>Use it:\n1. First\n   ```python\n   # </think>\n   x\n   ```", "# </think>\nx"),
    ("<think>a</think>\n<answer>\n```python\nx='</think>'\n```\n</answer>", "x='</think>'"),
    ("<think>unclosed ```python\ns='</think>'\n```", None),
]


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize(("completion", "code"), [*IN_CONTAINERS, *INFO_STRINGS, *MARKERS_IN_PROGRAMS])
def test_fences_in_lists_and_quotes_info_strings_and_markers(completion: str, code: str | None, crlf: bool) -> None:
    assert extract(completion.replace("\n", "\r\n") if crlf else completion, "last_block", "python") == code


def test_a_box_after_a_program_with_a_marker_in_it() -> None:
    completion = "<think>a</think>\n```python\nprint('</think>')\n```\nSo \\boxed{5}."
    assert extract(completion, "boxed", "text") == "5"
    assert extract(completion, "boxed_after_thinking", "text") == "5"
    assert extract("```python\nprint('</think>')\n```\n\\boxed{5}", "boxed_after_thinking", "text") is None


def test_what_is_too_much_holds_no_program() -> None:
    assert extract("```python\nx\n```\n" * (MOST_FENCES // 2 + 1), "last_block", "python") is None
    assert extract("```python\nx\n```\n" * (MOST_FENCES // 2), "last_block", "python") == "x"
    assert extract("\\boxed{" + "x" * LONGEST_BOX + "}", "boxed", "text") is None


CONTAINERS = st.lists(st.sampled_from(["> ", "- ", "* ", "1. ", "10) "]), max_size=4)
CODE_LINES = st.lists(st.sampled_from(["x", "  y", "", "- z", "> q", "1. w", "    deep"]), min_size=1, max_size=5)


def contained(lines: list[str], containers: list[str]) -> str:
    """Return these lines inside block quotes and list items, the outermost first."""
    for mark in reversed(containers):
        rest = mark if mark == "> " else " " * len(mark)
        lines = [(rest if index else mark) + line for index, line in enumerate(lines)]
    return "\n".join(lines)


@given(containers=CONTAINERS, code=CODE_LINES.filter(lambda lines: any(line.strip() for line in lines)))
def test_containers_are_those_of_commonmark(containers: list[str], code: list[str]) -> None:
    text = contained(["```python", *code, "```"], containers)
    [fence] = [token for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"]
    assert fence.content == "\n".join(code) + "\n"
    assert extract(f"So:\n\n{text}\n\nDone.", "last_block", "python") == "\n".join(code)
