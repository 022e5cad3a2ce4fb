"""The object that is linked into C and C++ programs, with a start of glibc that executes no CPUID.

The start of a static program asks for the features of the processor by some 40 CPUID. A virtual machine leaves the
processor for each one: two fifths of what such a program costs. The answers are the same for all programs of a machine.
So the host takes glibc's own start from the compiler's libc.a, and replaces CPUID by calls of `guest/cpuid.S` with a
table of answers. The object is used if a program finds the same features of the processor with it, and is kept in the
cache of the machine under the answers and the library. Without it programs start as glibc starts them.
"""

from __future__ import annotations

import hashlib
import logging
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from sandbox_service.languages.launcher import GUEST, START_OBJECT
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.languages.moved_code import Object, UnknownCodeError, with_calls

log = logging.getLogger(__name__)

ROUTINE_OBJECT = GUEST / "cpuid.o"
COMPILER, ARCHIVER, DISASSEMBLER, LINKER = "/usr/bin/gcc", "/usr/bin/ar", "/usr/bin/objdump", "/usr/bin/ld"
MEMBER = "libc-start.o"
FORMAT = "1"  # of a key; a change makes all entries stale
TOOL_SECONDS = 60.0
SHOWS_FEATURES = """
#include <unistd.h>
extern char _dl_x86_cpu_features[] __attribute__((visibility("hidden")));
int main(void) { return write(1, _dl_x86_cpu_features, 400) != 400; }
"""

BASIC, EXTENDED = 0, 1 << 31  # the leaves that have the number of the last one of their kind in EAX
WHOLE, ANY = 0xFFFFFFFF, 0
END = struct.pack("<I", WHOLE)  # no leaf
_ENTRY = struct.Struct("<7I")

SUBLEAVES = {4: 8, 7: 3, 0xB: 4, 0xD: 20, 0x14: 2, 0x19: 1, EXTENDED + 0x1D: 6}
"""The leaves that glibc asks for by subleaf, and how many of these are in the table."""

PLAIN_LEAVES = (EXTENDED, *range(EXTENDED + 1, EXTENDED + 9), BASIC, 1, 2)
OF_ONE_PROCESSOR = {(1, 1): 0xFF000000, (0xB, 3): WHOLE}
"""By leaf and register: bits that differ between the processors of a machine, and that glibc does not read."""


def start_object(cache: MachineCache) -> bytes:
    """Return the object that is linked into C and C++ programs.

    Args:
        cache: where it is kept.
    """
    ours = START_OBJECT.read_bytes()
    answers = b"".join(_answers())
    if not answers or not ROUTINE_OBJECT.exists():
        return ours
    try:
        library = Path(_said(COMPILER, "-print-file-name=libc.a").decode().strip())
        seen = library.stat()
        routine = _routine(answers)
        parts = [FORMAT.encode(), ours, routine, f"{library.resolve()} {seen.st_size} {seen.st_mtime_ns}".encode()]
        key = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
        with cache.locked(key):
            found = cache.get(key)
            if found is None:
                found = _made(ours, library, routine)
                cache.put(key, found)
            return found
    except (OSError, subprocess.SubprocessError, UnknownCodeError) as error:
        log.warning("libc_start_not_made", extra={"reason": str(error)})
        return ours


def _answers() -> Iterator[bytes]:
    """Yield the entries of the table, those first that glibc asks for most; none on other processors."""
    from sandbox_service.sandbox import _host  # not above: see jail.py

    for leaf, subleaf, which in _questions(_host.cpuid):
        answer = _host.cpuid(leaf, subleaf)
        assert answer is not None
        registers = [value & ~OF_ONE_PROCESSOR.get((leaf, at), 0) for at, value in enumerate(answer)]
        yield _ENTRY.pack(leaf, subleaf, which, *registers)


def _questions(cpuid: Callable[[int, int], tuple[int, ...] | None]) -> Iterator[tuple[int, int, int]]:
    """Yield leaves of this processor, each with a subleaf and the bits of that which matter."""
    last = {start: (cpuid(start, 0) or (-1,))[0] for start in (BASIC, EXTENDED)}
    for leaf in PLAIN_LEAVES:
        if leaf <= last[leaf & EXTENDED]:
            yield leaf, 0, ANY
    for leaf, count in SUBLEAVES.items():
        if leaf <= last[leaf & EXTENDED]:
            yield from ((leaf, subleaf, WHOLE) for subleaf in range(count))


def _routine(answers: bytes) -> bytes:
    compiled = Object(bytearray(ROUTINE_OBJECT.read_bytes()))
    return compiled.code(compiled.section(".text")) + answers + END


def _made(ours: bytes, library: Path, routine: bytes) -> bytes:
    """Return our object and glibc's changed start in one, with which a program finds the same features.

    The features have one byte that is not in the table, the number of the processor.

    Raises:
        UnknownCodeError: nothing was replaced, or the features differ.
    """
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        start, plain, changed, both = (Path(folder) / name for name in (MEMBER, "plain.o", "changed.o", "both.o"))
        start.write_bytes(_said(ARCHIVER, "p", str(library), MEMBER))
        listing = _said(DISASSEMBLER, "-d", "-w", "-j", ".text", str(start)).decode()
        content, count = with_calls(start.read_bytes(), listing, routine)
        changed.write_bytes(content)
        plain.write_bytes(ours)
        _said(LINKER, "-r", str(plain), str(changed), "-o", str(both))
        differing = [new for old, new in zip(_features(plain), _features(both), strict=True) if old != new]
        if not count or len(differing) > 1 or any(differing):
            raise UnknownCodeError(f"{count} instructions were replaced; {len(differing)} bytes of the features differ")
        return both.read_bytes()


def _features(start: Path) -> bytes:
    """Return what a program with a start object finds out about the processor."""
    source, program = start.with_suffix(".c"), start.with_suffix(".elf")
    source.write_text(SHOWS_FEATURES)
    _said(COMPILER, "-static", str(source), str(start), "-o", str(program))
    return _said(str(program))


def _said(*command: str) -> bytes:
    """Return the output of a command, which must succeed."""
    done = subprocess.run(
        command, capture_output=True, timeout=TOOL_SECONDS, cwd="/", check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return done.stdout
