"""The start of glibc with a table instead of CPUID: programs find the same processor, and code keeps its meaning."""

import subprocess
from pathlib import Path

import pytest

from sandbox_service.languages import libc_start
from sandbox_service.languages.launcher import START_OBJECT
from sandbox_service.languages.machine_cache import MachineCache
from sandbox_service.languages.moved_code import Object, UnknownCodeError, with_calls

pytestmark = pytest.mark.skipif(
    not libc_start.ROUTINE_OBJECT.exists(), reason="the programs of the jail were not built"
)

SHOWS_FEATURES = """
#include <stdio.h>
#include <unistd.h>
extern char _dl_x86_cpu_features[] __attribute__((visibility("hidden")));
extern long __x86_shared_non_temporal_threshold __attribute__((visibility("hidden")));
extern long __x86_data_cache_size __attribute__((visibility("hidden")));
int main(void) {
    fprintf(stderr, "%ld %ld", __x86_shared_non_temporal_threshold, __x86_data_cache_size);
    return write(1, _dl_x86_cpu_features, 400) != 400;
}
"""

ASKS = """
    .globl main
main:
    push %rbx
    mov $0x1234, %eax
    cpuid
    mov %ebx, value(%rip)
    mov $0x1234, %eax
    test %edi, %edi
    jne here
    jmp here
here:
    cpuid
    jmp there
there:
    mov value(%rip), %eax
    shl $1, %eax
    pop %rbx
    ret
    .bss
value: .long 0
    .section .note.GNU-stack, "", @progbits
"""
"""Its first CPUID can be moved. The second is a target of jumps, and a jump follows it."""


def compiled(folder: Path, name: str, text: str, *words: str) -> Path:
    source, made = folder / name, folder / f"{name}.out"
    source.write_text(text)
    subprocess.run(["gcc", *words, str(source), "-o", str(made)], check=True)
    return made


def listing_of(path: Path) -> str:
    return subprocess.run(
        ["objdump", "-d", "-w", "-j", ".text", path], check=True, capture_output=True, text=True
    ).stdout


def cpuids(path: Path) -> int:
    return listing_of(path).count("\tcpuid")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "start.o"
    path.write_bytes(libc_start.start_object(MachineCache(tmp_path / "cache", 1 << 20)))
    return path


def test_programs_find_the_same_processor(tmp_path: Path, made: Path) -> None:
    assert made.read_bytes() != START_OBJECT.read_bytes()
    plain, changed = (
        subprocess.run(
            compiled(tmp_path, f"{at}.c", SHOWS_FEATURES, "-static", str(start)), check=True, capture_output=True
        )
        for at, start in enumerate((START_OBJECT, made))
    )
    assert changed.stderr == plain.stderr
    differing = sum(a != b for a, b in zip(plain.stdout, changed.stdout, strict=True))
    assert any(plain.stdout)
    assert differing <= 1  # the number of the processor, which is not in the table


def test_the_start_executes_cpuid_at_one_place_only(made: Path) -> None:
    assert cpuids(START_OBJECT) == 0
    assert cpuids(made) == 1  # the routine's, for leaves that are not in the table


def test_the_object_is_made_once(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libc_start, "_made", None)
    assert libc_start.start_object(MachineCache(tmp_path / "cache", 1 << 20)) == made.read_bytes()


@pytest.mark.parametrize(
    ("name", "value"), [("MEMBER", "absent.o"), ("OF_ONE_PROCESSOR", {(1, 2): 0xFFFFFFFF}), ("ARCHIVER", "/absent")]
)
def test_without_it_programs_start_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: object
) -> None:
    monkeypatch.setattr(libc_start, name, value)
    assert libc_start.start_object(MachineCache(tmp_path / "cache", 1 << 20)) == START_OBJECT.read_bytes()
    assert "libc_start_not_made" in caplog.text


def test_an_instruction_that_cannot_be_moved_stays(tmp_path: Path) -> None:
    given = compiled(tmp_path, "asks.S", ASKS, "-c")
    routine = Object(bytearray(libc_start.ROUTINE_OBJECT.read_bytes()))
    entry = libc_start._ENTRY.pack(0x1234, 0, libc_start.ANY, 1, 21, 3, 4)
    code = routine.code(routine.section(".text")) + entry + libc_start.END
    content, count = with_calls(given.read_bytes(), listing_of(given), code)
    assert count == 1
    changed = tmp_path / "changed.o"
    changed.write_bytes(content)
    program = tmp_path / "program"
    subprocess.run(["gcc", "-static", str(changed), "-o", str(program)], check=True)
    assert subprocess.run([program], check=False).returncode == 42


def test_an_instruction_beside_an_address_that_depends_on_its_place_stays(tmp_path: Path) -> None:
    given = compiled(
        tmp_path, "bound.S", "here: jmp ask\nask: cpuid\n lea here(%rip), %rax\n jmp end\nend: ret\n", "-c"
    )
    assert with_calls(given.read_bytes(), listing_of(given), b"\xc3")[1] == 0


@pytest.mark.parametrize("content", [b"", b"!<arch>\n", b"\x7fELF\x01" + bytes(100)])
def test_other_files_are_no_objects(content: bytes) -> None:
    with pytest.raises(UnknownCodeError):
        Object(bytearray(content))


def test_a_listing_of_another_object_is_refused(tmp_path: Path) -> None:
    given, other = (
        compiled(tmp_path, name, text, "-c") for name, text in (("a.S", ASKS), ("b.S", ASKS.replace("$1,", "$2,")))
    )
    with pytest.raises(UnknownCodeError, match="another object"):
        with_calls(given.read_bytes(), listing_of(other), b"\xc3")
