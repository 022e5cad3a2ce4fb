"""Finds the fenced code blocks of a Markdown text by CommonMark's rules, mostly with a few regular expressions.

A block counts only if its fence is closed: an open one means that the program was cut off. Fences in block quotes and
list items are found, and the markers and indentation are removed from their lines. There are two deviations: the lines
of a block in a list item need not be indented as far as the item if the fence is indented by three columns or less,
because many models write so; and HTML blocks, which hide fences, are not recognised.

The text is hostile. Work is linear in its length, and the parts that need Python for each line (fences, lines of quotes
and items) are bounded by limits that no answer reaches.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

from sandbox_service.judging.code_block import Block
from sandbox_service.judging.markdown_containers import FENCE_INDENT, QUOTE, TAB, inner_line, item_width

FENCE_LENGTH = 3
# a text with more possible fences than this is treated as having no blocks
MOST_FENCES = 50_000
# most lines that are examined one by one, for fences in quotes and lists
MOST_LINES = 100_000
LONGEST_PREFIX = 200
_PREFIX = r"([ \t>*+\-0-9.)]*+)(`{3,}+|~{3,}+)([^\n]*+)$"
_FENCE = re.compile(r"^" + _PREFIX, re.MULTILINE)
_FIRST_FENCE = re.compile(_PREFIX, re.MULTILINE)  # of a text that begins in the middle of a line


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line that may open or close a block, in any quotes and lists."""

    start: int
    end: int
    prefix: str
    run: str
    rest: str

    @property
    def opens(self) -> bool:
        """True if it can open a block; a line with more backticks is inline code."""
        return self.run[0] == "~" or "`" not in self.rest

    def closes(self, opening: _Fence, item: int) -> bool:
        """Return True if it closes a block that is in no quote.

        Args:
            opening: the fence that opened the block.
            item: indentation of the list item around it, or 0.
        """
        alike = self.run[0] == opening.run[0] and len(self.run) >= len(opening.run)
        is_indent = len(self.prefix) <= item + FENCE_INDENT and not self.prefix.strip(" ")
        return alike and is_indent and not self.rest.strip(" \t")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The closed blocks of a text from some place on, and whether a block is open at its end."""

    blocks: list[Block]
    is_open: bool

    def at(self, place: int) -> Block | None:
        """Return the block that contains a place, or None.

        Args:
            place: index into the text.
        """
        index = bisect_left(self.blocks, place, key=lambda block: block.end)
        found = self.blocks[index] if index < len(self.blocks) else None
        return found if found is not None and found.start <= place else None


class Fences:
    """The fences of a text. Lines end in LF."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines_left = MOST_LINES

    @cached_property
    def _all(self) -> list[_Fence]:
        """Every line that may be a fence; none if there are too many."""
        if "```" not in self.text and "~~~" not in self.text:
            return []
        found: list[_Fence] = []
        for match in _FENCE.finditer(self.text):
            if len(found) == MOST_FENCES:
                return []
            if match.end(1) - match.start(1) <= LONGEST_PREFIX:
                found.append(_fence(match))
        return found

    @property
    def has_any(self) -> bool:
        """True if some line could open a block outside of lists."""
        return any(fence.opens for fence in self._from(0))

    def count(self, start: int) -> int:
        """Return the number of lines that may be fences.

        Args:
            start: first index to count from.
        """
        return len(self._from(start))

    def _from(self, start: int) -> list[_Fence]:
        rest = self._all[bisect_left(self._all, start, key=lambda fence: fence.start) :]
        if start == 0 or self.text[start - 1] == "\n":
            return rest
        first = _FIRST_FENCE.match(self.text, start)
        return [_fence(first), *rest] if first and first.end(1) - start <= LONGEST_PREFIX else rest

    def parsed(self, start: int = 0) -> Parsed:
        """Parse the text from a place on, as if nothing were before it.

        Args:
            start: index into the text.

        Returns:
            The result of the parser.
        """
        fences = self._from(start)
        blocks: list[Block] = []
        index = 0
        while index < len(fences):
            opening = fences[index]
            index += 1
            inside = self._containers(opening, start, blocks) if opening.opens else None
            if inside is None:
                continue
            containers, indent = inside
            if containers:
                block, end = self._contained(opening, containers, indent)
                index = bisect_left(fences, end, lo=index, key=lambda fence: fence.start)
                if block is not None:
                    blocks.append(block)
                elif end >= len(self.text):
                    return Parsed(blocks, is_open=True)
                continue
            # in an item, but its lines need not be indented: that is how many models write
            item = (self._item_around(opening, [], indent, start, blocks) or 0) if indent else 0
            close = next((at for at in range(index, len(fences)) if fences[at].closes(opening, item)), None)
            if close is None:
                return Parsed(blocks, is_open=True)
            body = slice(opening.end + 1, max(opening.end + 1, fences[close].start - 1))
            blocks.append(Block(opening.start, fences[close].end, opening.rest, self.text, body, indent))
            index = close + 1
        return Parsed(blocks, is_open=False)

    def _containers(self, fence: _Fence, start: int, blocks: list[Block]) -> tuple[list[int], int] | None:
        """Return the quotes and list items around an opening fence, and its indentation; None if it is not a fence."""
        rest, containers = fence.prefix.expandtabs(TAB), list[int]()
        while True:
            body = rest.lstrip(" ")
            indent = len(rest) - len(body)
            if indent > FENCE_INDENT:
                width = self._item_around(fence, containers, indent, start, blocks)
                if width is None:
                    return None
                containers.append(width)
                rest = rest[width:]
            elif not body:
                return containers, indent
            elif body[0] == ">":
                containers.append(QUOTE)
                rest = body[1:].removeprefix(" ")
            elif (width := item_width(indent, body)) is not None and width <= len(rest):
                containers.append(width)
                rest = rest[width:]
            else:
                return None

    def _item_around(
        self, fence: _Fence, containers: list[int], indent: int, start: int, blocks: list[Block]
    ) -> int | None:
        """Return the indentation of the list item that contains something indented this far; None if it is in none.

        Searches backwards for the item: no line between may be indented less than the item is.
        """
        least, place, last = indent, fence.start, len(blocks) - 1
        while place > start and self._lines_left > 0:
            self._lines_left -= 1
            if last >= 0 and place - 1 <= blocks[last].end:  # a block is one thing, whatever its lines look like
                place, last = blocks[last].start, last - 1
                end = self.text.find("\n", place)
            else:
                end = place - 1
                place = self.text.rfind("\n", start, end) + 1 or start
            line = inner_line(self.text[place : min(end, place + LONGEST_PREFIX)], containers)
            if line is None:
                return None
            body = line.lstrip(" ")
            if not body:
                continue
            column = len(line) - len(body)
            width = item_width(column, body)
            if width is not None and width <= least:
                return width if indent - width <= FENCE_INDENT else None
            least = min(least, column)
            if least < 2:  # no item is indented less
                return None
        return None

    def _contained(self, opening: _Fence, containers: list[int], indent: int) -> tuple[Block | None, int]:
        """Return a block in quotes and lists, and the start of the following text.

        The block is None if it ends with its container instead of a fence.
        """
        code: list[str] = []
        place = opening.end + 1
        while place <= len(self.text) and self._lines_left > 0:
            self._lines_left -= 1
            end = self.text.find("\n", place)
            end = len(self.text) if end < 0 else end
            line = inner_line(self.text[place:end], containers)
            if line is None:
                return None, place
            if _closes(line, opening):
                return Block(opening.start, end, opening.rest, "\n".join(code), slice(None), indent), end + 1
            code.append(line)
            place = end + 1
        return None, len(self.text)


def _fence(match: re.Match[str]) -> _Fence:
    return _Fence(match.start(), match.end(), match[1], match[2], match[3])


def _closes(line: str, opening: _Fence) -> bool:
    body = line.lstrip(" ")
    run = body.rstrip(" \t")
    alike = len(run) >= len(opening.run) and run.strip(opening.run[0]) == ""
    return alike and len(line) - len(body) <= FENCE_INDENT
