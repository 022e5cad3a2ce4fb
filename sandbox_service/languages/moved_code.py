"""Replaces CPUID in a compiled object by calls of a routine, which is put behind its code.

CPUID has two bytes, and a jump has five. So the instruction is moved behind the code together with some of its
neighbours, and a jump is left in their place. An instruction stays where it is if nothing around it can be moved: it is
a branch, or something may jump between the two. binutils says where instructions begin.
"""

from __future__ import annotations

import bisect
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

CPUID = b"\x0f\xa2"
CALL, JUMP, NOP = b"\xe8", b"\xe9", b"\x90"
JUMP_BYTES = 5
BELOW_RED_ZONE, ABOVE_RED_ZONE = b"\x48\x8d\x64\x24\x80", b"\x48\x8d\xa4\x24\x80\x00\x00\x00"  # lea ∓128(%rsp), %rsp
MOST_MOVED = 6  # instructions
ALIGNMENT = 16

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")  # the place, the kind, the symbol, the addend
_RELATIVE = struct.Struct("<i")
RELATIVE_KIND, RELOCATIONS, SYMBOLS = 2, 4, 2  # R_X86_64_PC32, SHT_RELA, SHT_SYMTAB
SECTION_SYMBOL = 3
X86_64, LITTLE_64 = 62, b"\x7fELF\x02\x01"

_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$", re.MULTILINE)
_BRANCH = re.compile(r"(notrack |bnd )?(j|call|ret|loop|xbegin|iret|sys)")
_TARGET = re.compile(r"\b([0-9a-f]+) <")


class UnknownCodeError(ValueError):
    """The object is of a form that this module does not know."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its place in the section, its bytes, and the words of the disassembler."""

    at: int
    code: bytes
    words: str

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.at + len(self.code)

    @property
    def is_branch(self) -> bool:
        """True if it may lead to another place than the next."""
        return _BRANCH.match(self.words) is not None


def instructions(listing: str) -> list[Instruction]:
    """Return the instructions in what `objdump -d -w` says of one section.

    Args:
        listing: its output.
    """
    found = _INSTRUCTION.finditer(listing)
    return [Instruction(int(each[1], 16), bytes.fromhex(each[2]), each[3]) for each in found]


@dataclass
class Section:
    """A section header: its number, its name, and its fields."""

    number: int
    name: str
    kind: int
    offset: int
    size: int
    link: int
    info: int


@dataclass(frozen=True)
class Relocation:
    """An entry of a table of relocations: where it is in the file, and its fields."""

    offset: int
    at: int
    kind: int
    symbol: int
    addend: int


@dataclass
class Object:
    """An object of x86-64, whose section .text can be replaced by a longer one."""

    content: bytearray
    sections: list[Section] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self._read()
        except struct.error as error:
            raise UnknownCodeError(str(error)) from None

    def _read(self) -> None:
        header = _HEADER.unpack_from(self.content)
        if not header[0].startswith(LITTLE_64) or header[2] != X86_64:
            raise UnknownCodeError("not an object of x86-64")
        self._headers, count, names = header[6], header[12], header[13]
        rows = [_SECTION.unpack_from(self.content, self._headers + at * _SECTION.size) for at in range(count)]
        for number, row in enumerate(rows):
            name = self._text(rows[names][4] + row[0])
            self.sections.append(Section(number, name, row[1], row[4], row[5], row[6], row[7]))

    def _text(self, at: int) -> str:
        return self.content[at : self.content.index(0, at)].decode()

    def section(self, name: str) -> Section:
        """Return the section of a name. Raises UnknownCodeError if there is not exactly one."""
        found = [each for each in self.sections if each.name == name]
        if len(found) != 1:
            raise UnknownCodeError(f"{len(found)} sections {name}")
        return found[0]

    def code(self, section: Section) -> bytes:
        """Return the bytes of a section."""
        return bytes(self.content[section.offset : section.offset + section.size])

    def relocations(self, of: Section) -> list[Relocation]:
        """Return the relocations of a section.

        Args:
            of: the section.
        """
        found = []
        for each in self.sections:
            if each.kind == RELOCATIONS and each.info == of.number:
                for offset in range(each.offset, each.offset + each.size, _RELOCATION.size):
                    at, kind, symbol, addend = _RELOCATION.unpack_from(self.content, offset)
                    found.append(Relocation(offset, at, kind, symbol, addend))
        return found

    def symbols(self) -> list[tuple[bool, int, int]]:
        """Return of each symbol whether it stands for a section, its section's number and its place there."""
        found = []
        for each in self.sections:
            if each.kind == SYMBOLS:
                for offset in range(each.offset, each.offset + each.size, _SYMBOL.size):
                    _, info, _, section, value, _ = _SYMBOL.unpack_from(self.content, offset)
                    found.append((info & 15 == SECTION_SYMBOL, section, value))
        return found

    def move(self, relocation: Relocation, at: int) -> None:
        """Let a relocation hold for another place of its section: `at`."""
        struct.pack_into("<Q", self.content, relocation.offset, at)

    def replace(self, section: Section, code: bytes) -> None:
        """Give a section other bytes, `code`, at the end of the file."""
        self.content += bytes(-len(self.content) % ALIGNMENT)
        struct.pack_into(
            "<QQ", self.content, self._headers + section.number * _SECTION.size + 24, len(self.content), len(code)
        )
        self.content += code


def with_calls(given: bytes, listing: str, routine: bytes) -> tuple[bytes, int]:
    """Return an object in which a routine stands for CPUID, and how many instructions it stands for.

    Args:
        given: the object.
        listing: what `objdump -d -w -j .text` says of it.
        routine: code that does not depend on its place, and returns.

    Raises:
        UnknownCodeError: the object has another form than objects of GCC.
    """
    changed = Object(bytearray(given))
    text = changed.section(".text")
    code = bytearray(changed.code(text))
    listed = instructions(listing)
    if any(code[each.at : each.end] != each.code for each in listed):
        raise UnknownCodeError("the listing is of another object")
    targets = _targets(changed, text, listed)
    relocations = changed.relocations(text)
    bound = {each.at for each in listed if _is_bound(each, relocations)}
    code += bytes(-len(code) % ALIGNMENT)
    routine_at = len(code)
    code += routine
    taken, count = 0, 0
    for number, each in enumerate(listed):
        window = _window(listed, number, targets, bound, taken) if each.code == CPUID else []
        if window:
            for moved, at in _move(code, window, routine_at):
                for relocation in relocations:
                    if moved.at <= relocation.at < moved.end:
                        changed.move(relocation, at + relocation.at - moved.at)
            taken, count = window[-1].end, count + 1
    changed.replace(text, bytes(code))
    return bytes(changed.content), count


def _is_bound(instruction: Instruction, relocations: Sequence[Relocation]) -> bool:
    """Return whether the meaning of an instruction depends on its place. A relocation moves with its instruction."""
    has_relocation = any(instruction.at <= each.at < instruction.end for each in relocations)
    return instruction.is_branch or ("(%rip)" in instruction.words and not has_relocation)


def _window(
    listed: Sequence[Instruction], number: int, targets: set[int], bound: set[int], taken: int
) -> list[Instruction]:
    """Return the fewest neighbours that make room for a jump, with the instruction itself; empty if there are none."""
    for size in range(2, MOST_MOVED + 1):
        for first in range(max(0, number - size + 1), number + 1):
            window = list(listed[first : first + size])
            length = window[-1].end - window[0].at
            if length < JUMP_BYTES or length != sum(len(each.code) for each in window) or window[0].at < taken:
                continue
            places = [each.at for each in window]
            if bound.isdisjoint(places) and targets.isdisjoint(places[1:]):
                return window
    return []


def _move(code: bytearray, window: Sequence[Instruction], routine_at: int) -> list[tuple[Instruction, int]]:
    """Move instructions to the end of the code; return each with its new place."""
    start, end = window[0].at, window[-1].end
    code[start:end] = (_relative(JUMP, start, len(code)) + NOP * (end - start))[: end - start]
    moved = []
    for each in window:
        moved.append((each, len(code)))
        if each.code == CPUID:
            code += BELOW_RED_ZONE
            code += _relative(CALL, len(code), routine_at)
            code += ABOVE_RED_ZONE
        else:
            code += each.code
    code += _relative(JUMP, len(code), end)
    return moved


def _relative(branch: bytes, at: int, to: int) -> bytes:
    return branch + _RELATIVE.pack(to - at - JUMP_BYTES)


def _targets(of: Object, text: Section, listed: Sequence[Instruction]) -> set[int]:
    """Return every place of the code that something may jump to."""
    symbols = of.symbols()
    found = {place for is_section, section, place in symbols if section == text.number and not is_section}
    for each in listed:
        if each.is_branch:
            found.update(int(word, 16) for word in _TARGET.findall(each.words))
    tables = _tables(of, text)
    for section in of.sections:
        if section.kind == RELOCATIONS or section.name == ".eh_frame" or section.number == text.number:
            continue
        for entry in of.relocations(section):
            if symbols[entry.symbol] == (True, text.number, 0):
                found.add(_entry(tables, section, entry))
    if not found <= {each.at for each in listed}:
        raise UnknownCodeError("a table leads between two instructions")
    return found


def _tables(of: Object, text: Section) -> dict[int, list[int]]:
    """Return the places in each section that the code refers to: tables of jumps begin at such places."""
    symbols = of.symbols()
    found: dict[int, list[int]] = {}
    for each in of.relocations(text):
        is_section, section, _ = symbols[each.symbol]
        if is_section and each.kind == RELATIVE_KIND:
            found.setdefault(section, []).append(each.addend + _RELATIVE.size)
    return {section: sorted(places) for section, places in found.items()}


def _entry(tables: dict[int, list[int]], section: Section, entry: Relocation) -> int:
    """Return the place that an entry of a table of jumps leads to; it is relative to the start of the table."""
    if entry.kind != RELATIVE_KIND:
        return entry.addend
    starts = tables.get(section.number, [])
    before = bisect.bisect_right(starts, entry.at)
    if not before:
        raise UnknownCodeError("a table that no code reads")
    return entry.addend - (entry.at - starts[before - 1])
