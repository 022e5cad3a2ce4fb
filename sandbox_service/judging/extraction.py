"""Extracts the program, or the contents of a LaTeX box, from a model's completion.

Fenced blocks follow CommonMark (`fences`); a program in the reasoning does not count. The completion is hostile:
extraction is linear in its length. Whether the program is correct is not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox_service.judging.code_block import Block
from sandbox_service.judging.fences import Fences
from sandbox_service.judging.turn_ends import without_end
from sandbox_service.schema import ExtractionRule

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
ANSWER_OPEN, ANSWER_CLOSE = "<answer>", "</answer>"
BOXES = (r"\boxed", r"\fbox")  # the second is used only if the first is absent
LONGEST_BOX = 1 << 20
# Each end of a thought is compared with the blocks around it, which takes a step for each character and several for
# each fence. If that exceeds this number of steps, the last end of a thought counts.
MOST_STEPS = 200_000_000
STEPS_OF_A_FENCE = 4000

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)

CPP_TAGS = {"cpp", "c++", "cc", "cxx", *(f"{name}{year}" for name in ("cpp", "c++") for year in (11, 14, 17, 20, 23))}
# Tags that models give their blocks, in lower case. A language that is missing here has its own name as its tag.
TAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "py3"}),
    "c": frozenset({"c", "h"}),
    "cpp": frozenset(CPP_TAGS),
    "csharp": frozenset({"csharp", "c#", "cs"}),
    "lua": frozenset({"lua"}),
    "pypy": frozenset({"pypy", "pypy3", "python", "py", "python3", "py3"}),
    "ruby": frozenset({"ruby", "rb"}),
    "sql": frozenset({"sql", "sqlite", "sqlite3"}),
    "javascript": frozenset({"javascript", "js", "node", "nodejs"}),
    "typescript": frozenset({"typescript", "ts"}),
    "go": frozenset({"go", "golang"}),
    "rust": frozenset({"rust", "rs"}),
    "bash": frozenset({"bash", "sh", "shell"}),
}


def extract(completion: str, rule: ExtractionRule, language: str) -> str | None:
    """Extract the answer from a completion.

    Blocks with a tag of the language are taken, or those without a tag if there are none. `whole` takes the completion
    as it is. `boxed` takes the contents of the last LaTeX box; `boxed_after_thinking` only if a thought ended before
    it.

    Args:
        completion: the model's text.
        rule: the part to extract.
        language: the submission's language; of several standards, the name that they share.

    Returns:
        The program or the answer; None if the rule finds none or only blank text.
    """
    if rule == "whole":
        return completion
    # a trainer that keeps the tokens that end a turn has them on the line of the last fence
    text = without_end(completion.removeprefix("\ufeff").replace("\r\n", "\n"))
    fences = Fences(text)
    start = _answer_start(fences)
    if start is None or (rule == "boxed_after_thinking" and start == 0):
        return None
    if rule in ("boxed", "boxed_after_thinking"):
        code = boxed(text[start:])
    elif rule == "answer_tag":
        code = _tagged_answer(text[start:], language)
    else:
        code = _from_blocks(fences.parsed(start).blocks, rule, language)
    return code if code is not None and code.strip() else None


def _answer_start(fences: Fences) -> int | None:
    """Return the start of the answer: after the last thought, or 0. None if the last thought was not finished.

    A program may contain `</think>` or `<think>` as text. A marker in a closed block is therefore ignored, unless a
    thought is open there, or the text after it consists of whole blocks: then a draft in the thought lacks its last
    fence.
    """
    text = fences.text
    if THINK_CLOSE not in text and THINK_OPEN not in text:
        return 0
    count = text.count(THINK_CLOSE) + 1
    if count * (len(text) + STEPS_OF_A_FENCE * fences.count(0)) > MOST_STEPS:
        start = text.rfind(THINK_CLOSE) + len(THINK_CLOSE) if THINK_CLOSE in text else 0
        return None if text.find(THINK_OPEN, start) >= 0 else start
    start, blocks = 0, fences.parsed()
    for found in re.finditer(THINK_CLOSE, text):
        if (
            blocks.at(found.start()) is None
            or _thought_opens(text, start, found.start(), blocks.at)
            or _is_whole(fences, found.end())
        ):
            start = found.end()
            blocks = fences.parsed(start)
    return None if _thought_opens(text, start, len(text), blocks.at) else start


def _thought_opens(text: str, start: int, end: int, block_at: Callable[[int], Block | None]) -> bool:
    """Return True if a thought begins between the two places, outside of all blocks."""
    place = text.find(THINK_OPEN, start, end)
    while place >= 0:
        block = block_at(place)
        if block is None:
            return True
        place = text.find(THINK_OPEN, block.end, end)
    return False


def _is_whole(fences: Fences, start: int) -> bool:
    """Return True if the text from there on has blocks, all of them closed, and no fence that closes an earlier one."""
    parsed = fences.parsed(start)
    return bool(parsed.blocks) and not parsed.is_open and fences.count(start) % 2 == 0


def boxed(text: str) -> str | None:
    r"""Return the contents of the last \boxed{…}, or of the last \fbox{…} if there is none.

    Braces are balanced; `\{` and `\}` do not count. A nested box is a box of its own.

    Args:
        text: the answer.

    Returns:
        The contents, or None if there is no box or the box is not closed.
    """
    for command in BOXES:
        _, found, after = text.rpartition(command)
        if found:
            return _braced(after.lstrip())
    return None


def _braced(text: str) -> str | None:
    """Return the text between an opening brace, with which the text must begin, and its closing one."""
    if not text.startswith("{"):
        return None
    depth = 0
    for found in _BRACE.finditer(text, 0, LONGEST_BOX):
        sign = found[0]
        if sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return text[1 : found.start()].strip()
    return None


def _from_blocks(found: list[Block], rule: ExtractionRule, language: str) -> str | None:
    tags = TAGS.get(language.lower(), frozenset({language.lower()}))
    # a block without a tag may be sample output: it counts only if no block has a tag of the language
    fitting = [block.code for block in found if block.tag in tags] or [block.code for block in found if not block.tag]
    if not fitting:
        return None
    if rule == "all_blocks":
        return "\n".join(fitting)
    return fitting[0 if rule == "first_block" else -1]


def _tagged_answer(text: str, language: str) -> str | None:
    before, closed, _ = text.rpartition(ANSWER_CLOSE)
    _, opened, body = before.rpartition(ANSWER_OPEN)
    if not closed or not opened:
        return None
    fences = Fences(body)
    if fences.has_any:
        return _from_blocks(fences.parsed().blocks, "last_block", language)
    return body
