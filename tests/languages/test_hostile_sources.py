"""Hostile sources for the compile box: none is paid, none reads the machine, and the next compilation is good."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.schema import Grade
from sandbox_service.settings import Settings
from tests.conftest import need_firejail
from tests.languages.toolchains import need, submission

LIMITS = {"cpu_seconds": 3.0, "wall_seconds": 20.0, "memory_bytes": 1 << 30, "output_bytes": 16 << 20}
GOOD = "int main() { return 0; }"
SHOW = """#include <cstdio>
asm(".globl from\\n.globl end\\n.data\\nfrom: %s\\nend: .byte 0");
extern char from[], end[];
int main() { fwrite(from, 1, end - from, stdout); }"""
LITERALS = "#define L0 " + '"x" ' * 8 + "\n" + "".join(f"#define L{i}" + f" L{i - 1}" * 8 + "\n" for i in range(1, 8))
CONSTANTS = 'a = "' + "x" * 60000 + '"' + "".join(f", {b} = {a}" + f" + {a}" * 20 for a, b in ("ab", "bc", "cd"))
NESTED = "".join(f"#define A{i} A{i - 1} A{i - 1} A{i - 1} A{i - 1}\n" for i in range(1, 30))


def incbin(*paths: str) -> str:
    return SHOW % "\\n".join(f'.incbin \\"{path}\\"' for path in paths)


SOURCES: dict[str, tuple[str, str]] = {
    # reading what a compiler can read
    "include_zeros": ("cpp", '#include "/dev/zero"\nint main() {}'),
    "include_random": ("cpp", '#include "/dev/urandom"\nint main() {}'),
    "include_stdin": ("cpp", '#include "/dev/stdin"\nint main() { return missing; }'),
    "include_shadow": ("cpp", '#include "/etc/shadow"\nint main() {}'),
    "include_environment": ("cpp", '#include "/proc/self/environ"\nint main() {}'),
    "include_maps": ("cpp", '#include "/proc/1/maps"\nint main() {}'),
    "include_folder": ("cpp", '#include "/usr"\nint main() {}'),
    "incbin_zeros": ("c", 'asm(".incbin \\"/dev/zero\\""); int main(void) { return 0; }'),
    "incbin_root": ("c", 'asm(".incbin \\"/root/.bashrc\\""); int main(void) { return 0; }'),
    "incbin_hostname": ("c", 'asm(".incbin \\"/etc/hostname\\""); int main(void) { return 0; }'),
    "incbin_cmdline": ("c", 'asm(".incbin \\"/proc/2/cmdline\\""); int main(void) { return missing; }'),
    "probe_files": (
        "cpp",
        '#if __has_include("/etc/shadow") || __has_include("/root/.profile") || __has_include("/var/cache")\n'
        "#define SEEN return 0;\n#endif\nint main() { SEEN }",
    ),
    "java_reads_by_annotation": ("java", "@javax.annotation.processing.SupportedOptions(1) public class Main {}"),
    "rust_include": ("rust", 'fn main() { print!("{}", include_str!("/etc/shadow")); }'),
    "rust_environment": ("rust", 'fn main() { print!("{}", env!("SANDBOX_API_KEYS")); }'),
    # time and memory
    "constant_loop": (
        "cpp",
        "constexpr long f() { long s = 0; for (long i = 0; i < 33554431; i++) for (long k = 0; k < 262143; k++) s += k;"
        " return s; }\nconstexpr long x = f();\nint main() { return x; }",
    ),
    "template_bomb": (
        "cpp",
        "template <int a, int b> struct X { enum { v = X<a - 1, b>::v + X<a - 1, b - 1>::v + X<a - 1, 2 * b>::v }; };"
        "\ntemplate <int b> struct X<0, b> { static const int v = b; };\nint main() { return X<880, 3>::v; }",
    ),
    "template_depth": ("cpp", "template <int n> struct D { D<n + 1> d; };\nD<0> d;\nint main() {}"),
    "macro_bomb": ("c", f"#define A0 x x x x\n{NESTED}int main(void) {{ A29 }}"),
    "include_itself": ("c", "#include __FILE__\n#include __FILE__\nint main(void) {}"),
    "large_data": ("c", "int all[500000000] = {1};\nint main(void) { return all[3]; }"),
    "repeated_data": ("c", 'asm(".rept 2000000000\\n.quad 1\\n.endr"); int main(void) { return 0; }'),
    "large_fill": ("c", 'asm(".data\\n.fill 4000000000, 1, 1"); int main(void) { return 0; }'),
    "brackets": ("c", f"int main(void) {{ return {'(' * 100000}1{')' * 100000}; }}"),
    "long_line": ("c", f"int main(void) {{ return {'1+' * 300000}missing; }}"),
    "deep_types": ("c", f"int {'*' * 100000} x = missing; int main(void) {{ return 0; }}"),
    "java_deep": ("java", f"public class Main {{ int x = {'(' * 20000}missing{')' * 20000}; }}"),
    "go_large_array": ("go", "package main\nvar a = [1 << 40]byte{5: 1}\nfunc main() { println(a[3]) }"),
    "rust_recursion": ("rust", "macro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)*) } }\nfn main() { m!(a) }"),
    "node_check": ("javascript", "(" * 1000000),
    # words
    "errors": ("cpp", "\n".join(f'int g{i} = "x";' for i in range(20000))),
    "long_message": ("cpp", f'static_assert(false, "{"x" * 1_000_000}"); int main() {{}}'),
    "warnings": ("c", "".join(f"#warning {'y' * 900}\n" for _ in range(5000)) + "int main(void) { return missing; }"),
    "control_characters": ("c", '#error "\x1b[2J\x07\x00"\nint main(void) {}'),
    # what is made
    "output_elsewhere": ("c", '#pragma GCC dependency "/etc/shadow"\nint main(void) { return missing; }'),
    "plugin": ("cpp", '#pragma GCC plugin "/tmp/main.cpp"\nint main() { return missing; }'),
    "linker_script": ("c", 'asm(".section .interp\\n.ascii \\"/bin/sh\\""); int main(void) { return missing; }'),
    "no_text": ("c", "\x00\x01\x02\xff"),
    # names and paths of ours
    "include_own_descriptors": (
        "c", '#include "/proc/self/fd/3"\n#include "/proc/self/fd/4"\nint main(void) { return missing; }',
    ),
    "include_builder": ("c", '#include "/proc/1/fd/1"\nint main(void) { return missing; }'),
    "include_start": ("c", '#include "start.o"\nint main(void) { return missing; }'),
    "start_symbol": ("c", "void _start(void) {}\nint main(void) { return 0; }"),
    "precompiled": (
        "cpp", '#pragma GCC pch_preprocess "/tmp/.header/bits/stdc++.h.gch"\nint main() { return missing; }',
    ),
    "java_our_class": ("java", "package proctor;\npublic class ProctorMain { }"),
    "java_many_classes": ("java", "public class Main { }" + "".join(f"class C{i} {{}}" for i in range(3000))),
    "java_nothing": ("java", "// no class"),
    "java_constants": ("java", f"public class Main {{ static final String {CONSTANTS}; }}"),
    "java_long_name": ("java", f"public class {'A' * 300} {{ }}"),
    "java_long_letters": ("java", f"public class {'é' * 150} {{ }}"),
    # assemblers and preprocessors that repeat
    "assembler_macro": ("c", 'asm(".macro a\\n a\\n a\\n.endm\\n a"); int main(void) { return 0; }'),
    "assembler_nested": ("c", 'asm(".rept 99999\\n.rept 99999\\n nop\\n.endr\\n.endr"); int main(void) { return 0; }'),
    "conditions": ("c", "#if 1\n" * 300000 + "int main(void) {}"),
    "literal_bomb": ("cpp", f"{LITERALS}const char *s = L7; int main() {{}}"),
    "constant_vector": (
        "cpp20", "#include <vector>\nconstexpr int f() { std::vector<int> v; for (int i = 0; i < 100000000; i++)"
        " v.push_back(i); return v.size(); }\nconstexpr int x = f();\nint main() {}",
    ),
    "concept_of_itself": ("cpp20", "template <int n> concept C = C<n>;\nint main() {}"),
    "long_name": ("c", f"int {'a' * 3000000}; int main(void) {{ return missing; }}"),
    "bidirectional": ("cpp", "int main() { /*\u202e } \u2066if (x)\u2069 */ return missing; }"),
    "no_function": ("c", ""),
    "large_common": ("c", "long all[1L << 40]; int main(void) { return all[5]; }"),
}  # fmt: skip
CHEAP = {
    "include_zeros",
    "include_shadow",
    "incbin_root",
    "incbin_hostname",
    "brackets",
    "errors",
    "warnings",
}
EMPTY = {"include_environment", "include_maps"}  # the compiler takes a file of /proc for empty


def compiled(grader: Grader, language: str, code: str) -> Grade:
    tests = [{"type": "stdin", "output": "never"}]
    return grader.grade(submission(language, code, tests=tests, compile_limits=LIMITS))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in CHEAP else pytest.mark.full) for name in SOURCES]
)
def test_a_hostile_source_gets_nothing_and_the_next_compilation_is_good(grader: Grader, name: str) -> None:
    language, code = SOURCES[name]
    need(language)
    grade = compiled(grader, language, code)
    assert grade.verdict == ("WA" if name in EMPTY else "CE"), (grade.message, grade.failure_reason)
    assert not any(test.stdout for test in grade.tests)
    assert len((grade.message or "").encode()) <= 4096
    assert "root:" not in (grade.message or "")
    need("c")
    after = grader.grade(submission("c", GOOD + f" /* {name} */", tests=[{"type": "stdin", "output": ""}]))
    assert after.verdict == "AC", (after.message, after.failure_reason)


def test_there_are_thirty_hostile_sources() -> None:
    assert len(SOURCES) >= 30


def test_a_program_with_what_a_compiler_read_has_nothing_of_the_machine(grader: Grader) -> None:
    need("cpp")
    code = incbin("/proc/self/environ", "/proc/self/mountinfo", "/etc/passwd")
    grade = grader.grade(submission("cpp", code, tests=[{"type": "stdin", "output": "never"}], display_bytes=1 << 16))
    assert grade.verdict == "WA", (grade.message, grade.failure_reason)
    shown = grade.tests[0].stdout
    assert "SANDBOX_" not in shown
    assert "/home" not in shown
    assert "root:x:0:0::/:/bin/false" in shown  # the room's own


def test_a_program_larger_than_the_folder_of_its_box_is_run(grader: Grader) -> None:
    """A source could choose not to be graded: its files did not fit, which was taken for a fault."""
    need("lua")
    code = "print(55) --" + "x" * (33 << 20)
    grade = grader.grade(submission("lua", code, tests=[{"type": "stdin", "output": "54"}]))
    assert (grade.verdict, grade.reward) == ("WA", 0), (grade.message, grade.failure_reason)


def test_a_slow_compiler_is_not_remembered(grader: Grader) -> None:
    need("cpp")
    _, code = SOURCES["constant_loop"]
    first = compiled(grader, "cpp", code)
    assert "did not get through" in (first.message or "")
    quick = grader.grade(submission("cpp", code.replace("33554431", "3"), compile_limits=LIMITS))
    assert quick.verdict != "CE"


def test_a_refusal_is_remembered_and_shows_no_path_of_ours(grader: Grader) -> None:
    need("c")
    grades = [grader.grade(submission("c", "int main(void) { return missing; } // once")) for _ in range(2)]
    assert grades[0].message == grades[1].message
    assert "main.c:1" in (grades[0].message or "")
    assert "/tmp" not in (grades[0].message or "")


def test_a_missing_header_is_not_remembered(tmp_path: Path) -> None:
    """It may be installed later; the folder of kept results has the start of programs, and stays as it is."""
    need("c")
    need_firejail()
    with bootstrap.grader(Settings(cache_folder=str(tmp_path), first_uid=61900)) as fresh:
        kept = []
        for name in ("no_such_header.h", "nor_such_a_header.h"):
            grade = fresh.grade(submission("c", f"#include <{name}>\nint main(void) {{ return 0; }}"))
            assert f"{name}: No such file or directory" in (grade.message or "")
            kept.append([each for each in (tmp_path / "built").rglob("*") if each.is_file()])
        assert kept[0] == kept[1]
        assert len(kept[0]) <= 1


def test_files_are_beside_the_source(grader: Grader) -> None:
    need("cpp")
    square = '#include "sum.h"\nlong square(long x) { return x * x; }\n'
    files = {"sum.h": "long square(long x);\n", "square.cpp": square}
    code = (
        '#include <iostream>\n#include "sum.h"\n'
        "int main() { long n, x, s = 0; std::cin >> n; while (std::cin >> x) s += square(x); std::cout << s; }"
    )
    wrong = files | {"square.cpp": "long square(long) { return 1; }"}
    assert grader.grade(submission("cpp", code, files=files)).verdict == "AC"
    assert grader.grade(submission("cpp", code, files=wrong)).verdict == "WA"
    assert grader.grade(submission("cpp", code)).verdict == "CE"
