"""Judges in C++: every way to end, by testlib's and Kattis' protocols, and interaction between languages."""

from __future__ import annotations

import hashlib
import shutil
from typing import Any

import pytest

from tests.conftest import Service
from tests.markers import crosswise
from tests.service.test_interactions import GUESS

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

TEST = {"type": "stdin", "input": "3\n", "output": "6\n"}
LIMITS = {"cpu_seconds": 0.5, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
# one program for all endings, so that it is compiled once: its first flag says how it ends
CHECKER = r"""
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <cstring>
#include <string>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <fstream>
#ifndef INSIDE
#define INSIDE 1
#endif
int main(int argc, char **argv) {
    std::string how = argv[4], in, out, ans;
    std::ifstream(argv[1]) >> in;
    if (how[0] == 'k') { std::ifstream(argv[2]) >> ans; char b[99]; if (scanf("%98s", b) == 1) out = b; }
    else { std::ifstream(argv[2]) >> out; std::ifstream(argv[3]) >> ans; }
    std::string end = how.substr(2), folder = argv[3];
    if (end == "compare") return how[0] == 'k' ? (out == ans ? 42 : 43) : out != ans;
    if (end == "points") { fprintf(stderr, "points 0.25"); return 7; }
    if (end == "score") { std::ofstream(folder + "score.txt") << "0.25"; return 42; }
    if (end == "message") { std::ofstream(folder + "judgemessage.txt") << "too small"; return 43; }
    if (end == "crash") *(volatile int *)8 = 0;
    if (end == "abort") abort();
    if (end == "spin") for (;;) ;
    if (end == "flood") for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    if (end == "memory") { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }
    if (end == "fork") return fork() < 0 ? 0 : 1;
    if (end == "write") return open(argv[1], O_WRONLY) >= 0 || open("here", O_CREAT | O_WRONLY, 0600) >= 0 ? INSIDE : 0;
    if (end == "leave") return fopen("feedback/../../etc/passwd", "r") || fopen("/usr/bin/env", "r") ? 1 : 0;
    if (end == "much") { fprintf(stderr, "points 50"); return 7; }
    if (end == "less") { fprintf(stderr, "points -0.5"); return 7; }
    if (end == "part") { fprintf(stderr, "partially correct (0) no"); return 0; }
    if (end == "kill") raise(SIGKILL);
    if (end == "stop") raise(SIGSTOP);
    if (end == "segfault twice") { signal(SIGSEGV, SIG_IGN); *(volatile int *)8 = 0; }
    if (end == "closed") { for (int fd = 0; fd < 9; fd++) close(fd); return how[0] == 'k' ? 43 : 1; }
    if (end == "stdin") { int sum = 0; while (getchar() != EOF) sum++; return how[0] == 'k' ? (sum ? 43 : 42) : sum; }
    if (end == "bytes") { std::ofstream(folder + "judgemessage.txt") << "a\xff\n"; return 43; }
    if (end == "folder") { mkdir((folder + "score.txt").c_str(), 0700); return 42; }
    if (end == "zero") { std::ofstream(folder + "score.txt") << "0x1p0"; return 42; }
    if (end == "deep") { volatile char big[1 << 16]; big[0] = 0; main(argc, argv); return big[0]; }
    if (end == "past the end") { std::string x = out; return x.at(999); }
    return atoi(end.c_str());
}
"""
ENDINGS: dict[str, tuple[str, float | None]] = {
    "t compare": ("AC", None),
    "t 0": ("AC", None),
    "t 1": ("WA", None),
    "t 2": ("WA", None),
    "t 4": ("WA", None),
    "t 8": ("WA", None),
    "t 3": ("IE", None),
    "t 5": ("IE", None),
    "t points": ("WA", 0.25),
    "t 7": ("IE", None),
    "t crash": ("IE", None),
    "t abort": ("IE", None),
    "t past the end": ("IE", None),
    "t spin": ("IE", None),
    "t flood": ("IE", None),
    "t memory": ("IE", None),
    "t fork": ("AC", None),
    "t write": ("AC", None),
    "t leave": ("AC", None),
    **{f"t {status}": ("IE", None) for status in (6, 9, 42, 43, 100, 111, 139, 255)},
    "t much": ("IE", None),
    "t less": ("IE", None),
    "t part": ("WA", 0.0),
    "t kill": ("IE", None),
    "t closed": ("WA", None),
    "t stdin": ("AC", None),
    "t deep": ("IE", None),
    "t segfault twice": ("IE", None),
    **{f"k {status}": ("IE", None) for status in (2, 3, 4, 7, 8, 41, 44, 170)},
    "k bytes": ("WA", None),
    "k folder": ("IE", None),
    "k zero": ("IE", None),
    "k kill": ("IE", None),
    "k stop": ("IE", None),
    "k closed": ("WA", None),
    "k stdin": ("WA", None),
    "k compare": ("AC", None),
    "k 42": ("AC", None),
    "k 43": ("WA", None),
    "k score": ("AC", 0.25),
    "k message": ("WA", None),
    "k 0": ("IE", None),
    "k 1": ("IE", None),
    "k crash": ("IE", None),
    "k abort": ("IE", None),
    "k past the end": ("IE", None),
    "k spin": ("IE", None),
    "k flood": ("IE", None),
    "k memory": ("IE", None),
}


def judge(source: str, protocol: str, **fields: Any) -> dict[str, Any]:
    return {"type": "program", "language": "cpp", "source": source, "protocol": protocol, "limits": LIMITS, **fields}


CODES = {
    "python": "print(2 * int(input()))",
    # its box and the judge's are one message to one launcher
    "cpp": '#include <cstdio>\nint main() { int n; std::scanf("%d", &n); std::printf("%d\\n", 2 * n); }\n',
}


@pytest.mark.parametrize(("needs_proc", "language"), crosswise((False, True), CODES))
def test_each_ending_has_its_verdict(service: Service, needs_proc: bool, language: str) -> None:
    protocols = {"t": "testlib", "k": "kattis"}
    # a judge whose text mentions /proc has it, and may write into its current folder; any other has neither
    source = ("#define INSIDE 0 // it may look at /proc\n" if needs_proc else "") + CHECKER
    submissions = [
        {"id": f"{name} {needs_proc} {language}", "language": language, "code": CODES[language], "tests": [TEST]}
        | {"reward": {"scheme": "fraction"}}
        | {"checker": judge(source, protocols[name[0]], arguments=[name])}
        for name in ENDINGS
    ]
    answers = service.client.batch(submissions)
    grades = {name: answers[f"{name} {needs_proc} {language}"] for name in ENDINGS}
    found = {name: (grades[name]["verdict"], grades[name]["tests"][0]["share"]) for name in ENDINGS}
    wrong = {name: (found[name], grades[name]["failure_reason"]) for name in ENDINGS if found[name] != ENDINGS[name]}
    assert wrong == {}
    assert grades["k message"]["message"] == "too small"


ACCEPTS = "#include <cstdio>\nint main() { return 0; }\n"
FAILS = {
    "return 3;": "RTE",
    "abort();": "RTE",
    "*(volatile int *)8 = 0;": "RTE",
    'for (int i = 0; i < 200000; i++) puts("0123456789");': "OLE",
    "for (;;) ;": "TLE",
    "raise(SIGKILL);": "RTE",
    "sleep(100);": "TLE",
    "static char all[400 << 20]; memset(all, 1, sizeof all); return all[7] - 1;": "MLE",
    "return 0;": "AC",
}


def test_a_program_that_fails_is_not_accepted_by_its_checker(service: Service) -> None:
    head = "#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\n"
    submissions = [{"id": body, "code": f"{head}int main() {{ {body} }}\n"} for body in FAILS]
    limits = LIMITS | {"wall_seconds": 3.0}
    common = {"language": "cpp", "tests": [TEST], "limits": limits, "checker": judge(ACCEPTS, "testlib")}
    grades = service.client.batch(submissions, **common)
    assert {body: grades[body]["verdict"] for body in FAILS} == FAILS


TWO_PASSES = r"""
#include <fstream>
#include <iostream>
#include <string>
int main(int argc, char **argv) {
    std::string folder = argv[3];
    int given, seen = 0, printed;
    std::ifstream(argv[1]) >> given;
    std::ifstream(folder + "state") >> seen;
    if (!(std::cin >> printed) || printed != 2 * given) return 43;
    if (seen == 2) return 42;
    std::ofstream(folder + "state") << seen + 1;
    std::ofstream(folder + "nextpass.in") << printed << "\n";
    return 42;
}
"""


@pytest.mark.parametrize("language", CODES)
def test_a_native_judge_asks_for_passes(service: Service, language: str) -> None:
    program = judge(TWO_PASSES, "kattis", passes=3)
    common = {"language": language, "code": CODES[language], "tests": [TEST, TEST]}
    assert service.grade(**common, checker=program)["verdict"] == "AC"
    grade = service.grade(**common, checker=program | {"passes": 2})
    assert (grade["verdict"], grade["failure_kind"]) == ("IE", "bad_checker")


INTERACTOR = """
#include <fstream>
#include <iostream>
int main(int argc, char **argv) {
    int secret, guess, left = 30;
    std::ifstream(argv[1]) >> secret;
    while (left-- && std::cin >> guess) {
        if (guess == secret) { std::cout << "correct" << std::endl; return 42; }
        std::cout << (guess < secret ? "higher" : "lower") << std::endl;
    }
    return 43;
}
"""
GUESS_CPP = """
#include <iostream>
int main() {
    int low = 1, high = 1000000; std::string word;
    while (true) {
        int middle = (low + high) / 2;
        std::cout << middle FLUSH;
        if (!(std::cin >> word) || word == "correct") return 0;
        if (word == "higher") low = middle + 1; else high = middle - 1;
    }
}
"""
FUNCTION = """def interact(read, write, input, answer):
    for _ in range(30):
        guess = int(read())
        if guess == int(input):
            write("correct")
            return True
        write("higher" if guess < int(input) else "lower")
    return False
"""


def test_languages_mix(service: Service) -> None:
    test = {"type": "interactive", "input": "777777"}
    native, function = judge(INTERACTOR, "kattis"), judge(FUNCTION, "function", language="python")
    flushes = GUESS_CPP.replace("FLUSH", "<< std::endl")
    keeps = GUESS_CPP.replace("FLUSH", '<< "\\n"').replace("int low", "std::cin.tie(nullptr); int low")
    for language, code, verdict in (("python", GUESS, "AC"), ("cpp", flushes, "AC"), ("cpp", keeps, "TLE")):
        for interactor in (native, function):
            grade = service.grade(language=language, code=code, tests=[test], interactor=interactor)
            assert grade["verdict"] == verdict, grade["message"]


def test_a_judge_that_does_not_compile_is_bad(service: Service) -> None:
    grade = service.grade(code="print(6)", tests=[TEST], checker=judge("int main() {", "kattis"))
    assert (grade["verdict"], grade["failure_kind"]) == ("IE", "bad_checker")


def test_headers_come_with_the_request(service: Service) -> None:
    own = '#include "own.h"\n#include <cstdlib>\nvoid accept() { exit(42); }\n'
    files = {"main.cpp": '#include "own.h"\nint main() { accept(); }\n', "own.h": "void accept();\n", "own.cc": own}
    program = {"type": "program", "language": "cpp", "protocol": "kattis", "files": files, "main": "main.cpp"}
    assert service.grade(code="print(6)", tests=[TEST], checker=program)["verdict"] == "AC"
    # it decides before Python has compiled the program, which is then stopped
    slow = "x = 1\n" * 20_000 + "print(6)\n"
    test = {"type": "interactive", "input": "3\n"}
    assert service.grade(code=slow, tests=[test], interactor=program)["verdict"] != "CE"


MOST_FILES, MOST_JUDGE_FILES = 100, 64


def test_a_program_and_its_judge_may_have_all_files_that_a_request_may_have(service: Service) -> None:
    headers, own = (headers_of(count) for count in (MOST_FILES, MOST_JUDGE_FILES - 1))
    own["main.cpp"] = included(own) + "int main() { return 41 + H62; }\n"
    native = {"type": "program", "language": "cpp", "protocol": "kattis", "main": "main.cpp", "files": own}
    code = included(headers) + CODES["cpp"]
    grade = service.grade(language="cpp", code=code, files=headers, tests=[TEST], checker=native)
    assert grade["verdict"] == "AC", (grade["failure_reason"], grade["message"])

    parts = {f"f{i}.sh": f"x=$((x + {i}))\n" for i in range(MOST_FILES)}
    sums = "for i in {0..%d}; do . ./f$i.sh; done\n"
    code = sums % (MOST_FILES - 1) + "read n; echo $((2 * n + x - 4950))\n"
    checks = {name: parts[name] for name in list(parts)[: MOST_JUDGE_FILES - 1]}
    checks["main.sh"] = sums % (MOST_JUDGE_FILES - 2) + "read n; exit $((n == 6 && x == 1953 ? 42 : 43))\n"
    shell = {"type": "program", "language": "bash", "protocol": "kattis", "main": "main.sh", "files": checks}
    for language, program, files in (("bash", code, parts), ("python", CODES["python"], {})):
        grade = service.grade(language=language, code=program, files=files, tests=[TEST], checker=shell)
        assert grade["verdict"] == "AC", (grade["failure_reason"], grade["message"])


def headers_of(count: int) -> dict[str, str]:
    return {f"h{i}.h": f"#define H{i} 1\n" for i in range(count)}


def included(headers: dict[str, str]) -> str:
    return "".join(f'#include "{name}"\n' for name in headers)


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
def test_a_judge_in_java_gets_its_arguments(service: Service) -> None:
    source = """
import java.nio.file.*;
class Judge {
    public static void main(String[] names) throws Exception {
        String answer = Files.readString(Path.of(names[1])), out = new String(System.in.readAllBytes());
        System.exit(answer.equals(out) ? 42 : 43);
    }
}
"""
    program = judge(source, "kattis") | {"language": "java"}
    assert service.grade(code="print(6)", tests=[TEST], checker=program)["verdict"] == "AC"


JAVA = """
import java.nio.file.*;
class Judge {
    static int deep(int n) { return deep(n + 1) + 1; }
    public static void main(String[] names) throws Exception {
        String how = names[names.length - 1], folder = names[2];
        switch (how) {
            case "throws": throw new IllegalStateException();
            case "deep": deep(0); break;
            case "memory": long[][] all = new long[1 << 20][]; for (int i = 0; ; i++) all[i] = new long[1 << 20];
            case "score": Files.writeString(Path.of(folder, "score.txt"), "0.5"); System.exit(42);
            case "halts": Runtime.getRuntime().halt(43);
            case "thread": new Thread(() -> System.exit(42)).start(); Thread.sleep(900000); break;
            case "returns": break;
            default: System.exit(Integer.parseInt(how));
        }
    }
}
"""
JAVA_ENDINGS: dict[str, tuple[str, float | None]] = {
    "42": ("AC", None),
    "43": ("WA", None),
    "0": ("IE", None),
    "1": ("IE", None),
    "7": ("IE", None),
    "returns": ("IE", None),
    "throws": ("IE", None),
    "deep": ("IE", None),
    "memory": ("IE", None),
    "halts": ("WA", None),
    "thread": ("AC", None),
    "score": ("AC", 0.5),
}


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
def test_each_ending_in_java_has_its_verdict(service: Service) -> None:
    program = judge(JAVA, "kattis") | {"language": "java", "limits": LIMITS | {"cpu_seconds": 4.0}}
    submissions = [{"id": name, "checker": program | {"arguments": [name]}} for name in JAVA_ENDINGS]
    grades = service.client.batch(submissions, code="print(6)", tests=[TEST])
    found = {name: (grades[name]["verdict"], grades[name]["tests"][0]["share"]) for name in JAVA_ENDINGS}
    assert found == JAVA_ENDINGS


READS = """import glob
for name in ("answer.txt", "input.txt", "order.json", "feedback"):
    for path in glob.glob(f"/tmp/{name}") + glob.glob(f"/proc/*/fd/*/{name}"):
        print(open(path).read())
"""
WRITES = """import os
os.makedirs("/tmp/feedback")
open("/tmp/feedback/score.txt", "w").write("1")
open("/tmp/feedback/report.json", "w").write('{"verdict": true, "message": ""}')
"""
ATTACKS = {
    "reads what the judge reads": READS,
    "writes feedback": WRITES,
    "claims a verdict": "import sys\nsys.stderr.write('points 1')\nprint('42 AC points 1')",
    "prints zeros": "import sys\nsys.stdout.buffer.write(bytes(1 << 20))",
    "prints much": "print('6 ' * 4_000_000)",
    "prints a number without end": "print('6' * 4_000_000)",
    "ends with the judge's status": "import os\nprint(7)\nos._exit(42)",
}


def test_no_output_is_paid_for_what_it_says(service: Service) -> None:
    secret = hashlib.sha256(b"secret").hexdigest()
    test = {"type": "stdin", "input": "", "output": secret}
    checkers = {
        "testlib": judge(CHECKER, "testlib", arguments=["t compare"]),
        "kattis": judge(CHECKER, "kattis", arguments=["k compare"]),
        "function": {"type": "program", "protocol": "function"}
        | {"source": "def check(input, output, answer):\n    return output.strip() == answer.strip()"},
    }
    for name, code in ATTACKS.items():
        for protocol, checker in checkers.items():
            grade = service.grade(code=code, tests=[test], checker=checker)
            assert not grade["reward"], (name, protocol, grade)
            assert grade["verdict"] in ("WA", "RTE"), (name, protocol, grade["verdict"])
            assert secret not in str(grade["tests"]), (name, protocol)


# every descriptor, and every name that a judge's folder has
SNOOPS = r"""
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void show(int fd) {
    static char text[1 << 16];
    struct stat found;
    if (fstat(fd, &found)) return;
    printf("%d: %o\n", fd, found.st_mode);
    ssize_t size = pread(fd, text, sizeof text, 0);
    if (size > 0) fwrite(text, 1, size, stdout);
    const char *names[] = {"answer.txt", "input.txt", "output.txt", "feedback"};
    for (int i = 0; i < 4; i++) {
        int inner = openat(fd, names[i], O_RDONLY);
        if (inner >= 0) { puts(names[i]); show(inner); close(inner); }
    }
}
int main() {
    for (int fd = 3; fd < 2000; fd++) show(fd);
    const char *folders[] = {"/", ".", "..", "/tmp", "/proc", "/proc/self/fd", "/dev", "/dev/shm"};
    for (int i = 0; i < 8; i++) {
        DIR *folder = opendir(folders[i]);
        if (folder) { show(dirfd(folder)); closedir(folder); }
    }
    puts("done");
}
"""


def test_a_program_has_nothing_of_the_checker_that_follows_it(service: Service) -> None:
    secret = hashlib.sha256(b"another").hexdigest()
    test = {"type": "stdin", "input": "", "output": secret}
    checker = judge(CHECKER, "testlib", arguments=["t compare"])
    grade = service.grade(code=SNOOPS, language="c", tests=[test, test], checker=checker, stop_on_failure=False)
    assert [each["verdict"] for each in grade["tests"]] == ["WA", "WA"]
    for each in grade["tests"]:
        assert each["stdout"].endswith("done\n")
        assert not any(name in each["stdout"] for name in (secret, ".txt", "feedback"))
