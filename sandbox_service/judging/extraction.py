"""Which part of a model's answer is the program, or the answer that stands in a box.

Fenced blocks are found by CommonMark's rules with one difference: a fence that never closes is no block, for its
program was cut off. A program in the reasoning is no answer. Everything is one pass over the lines: no regular
expression could be made to backtrack here. Whether the program is any good is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_service.schema import ExtractionRule

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
ANSWER_OPEN, ANSWER_CLOSE = "<answer>", "</answer>"
BOXES = (r"\boxed", r"\fbox")  # the second counts where there is none of the first
FENCE_LENGTH = 3
FENCE_INDENT = 3

# How models tag their blocks, in lower case. A language that is not here has its own name for a tag.
TAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3"}),
    "cpp": frozenset({"cpp", "c++", "cc", "cxx"}),
    "javascript": frozenset({"javascript", "js", "node"}),
    "typescript": frozenset({"typescript", "ts"}),
    "go": frozenset({"go", "golang"}),
    "rust": frozenset({"rust", "rs"}),
    "bash": frozenset({"bash", "sh", "shell"}),
}


@dataclass(frozen=True, slots=True)
class Block:
    """A closed fenced block: the first word after its opening fence, in lower case, and what is in it."""

    tag: str
    code: str


@dataclass(frozen=True, slots=True)
class _Fence:
    indent: int
    mark: str
    length: int
    info: str

    def closes(self, opening: _Fence) -> bool:
        return self.mark == opening.mark and self.length >= opening.length and not self.info


def extract(completion: str, rule: ExtractionRule, language: str) -> str | None:
    """The program in `completion`, or None if there is none by `rule`; blank code is none.

    Blocks with a tag of the language's are taken, or those without a tag if there are none. `whole` takes the
    completion as it is. `boxed` takes what is in the last LaTeX box; `boxed_after_thinking` only if a thought was
    finished before it.
    """
    if rule == "whole":
        return completion
    if rule == "boxed_after_thinking" and THINK_CLOSE not in completion:
        return None
    answer = _after_thinking(completion.replace("\r\n", "\n"))
    if answer is None:
        return None
    if rule in ("boxed", "boxed_after_thinking"):
        code = boxed(answer)
    else:
        code = _tagged_answer(answer, language) if rule == "answer_tag" else _from_blocks(answer, rule, language)
    return code if code is not None and code.strip() else None


def _after_thinking(text: str) -> str | None:
    """What follows the last thought; None if the last thought was never finished."""
    answer = text.rpartition(THINK_CLOSE)[2]
    return None if THINK_OPEN in answer else answer


def boxed(text: str) -> str | None:
    r"""What is in the last \boxed{…}, or in the last \fbox{…} if there is none; None if that one never closes.

    Braces are balanced; `\{` and `\}` do not count. A box in a box is its own.
    """
    for command in BOXES:
        _, found, after = text.rpartition(command)
        if found:
            return _braced(after.lstrip())
    return None


def _braced(text: str) -> str | None:
    """What is between a brace, with which the text must begin, and its partner."""
    if not text.startswith("{"):
        return None
    depth, escaped = 0, False
    for place, sign in enumerate(text):
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return text[1:place].strip()
    return None


def _from_blocks(text: str, rule: ExtractionRule, language: str) -> str | None:
    tags = TAGS.get(language.lower(), frozenset({language.lower()}))
    found = list(blocks(text))
    # a block without a tag may be sample output: it counts only where no block says that it is the language's
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
    if any(_fence(line) for line in body.split("\n")):
        return _from_blocks(body, "last_block", language)
    return body


def blocks(text: str) -> Iterator[Block]:
    """All closed fenced blocks, in order. Lines end in LF."""
    opening: _Fence | None = None
    content: list[str] = []
    for line in text.split("\n"):
        fence = _fence(line)
        if opening is None:
            opening, content = fence, []
        elif fence is not None and fence.closes(opening):
            yield Block(_tag(opening), "\n".join(content))
            opening = None
        else:
            content.append(_unindented(line, opening.indent))


def _fence(line: str) -> _Fence | None:
    body = line.lstrip(" ")
    indent = len(line) - len(body)
    mark = body[:1]
    if mark not in ("`", "~") or indent > FENCE_INDENT:
        return None
    rest = body.lstrip(mark)
    info = rest.strip(" \t")
    length = len(body) - len(rest)
    # ```code``` within a line is a code span, not a fence.
    if length < FENCE_LENGTH or (mark == "`" and "`" in info):
        return None
    return _Fence(indent, mark, length, info)


def _tag(opening: _Fence) -> str:
    return opening.info.lower().split(maxsplit=1)[0] if opening.info else ""


def _unindented(line: str, indent: int) -> str:
    """Without as many leading blanks as the opening fence had."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
