"""Judges and outputs that few people write: every exit status, floods, threads, odd bytes, points, many passes."""

from __future__ import annotations

import base64
import shutil
import zlib
from typing import Any

import pytest

from tests.conftest import Service
from tests.markers import crosswise, one_in

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

TEST = {"type": "stdin", "input": "3\n", "output": "6\n"}
LIMITS = {"cpu_seconds": 1.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
# each judge follows a program of its own language: a native one in the same launcher
CODES = {
    "python": "print(2 * int(input()))",
    "cpp": '#include <cstdio>\nint main() { int n; std::scanf("%d", &n); std::printf("%d\\n", 2 * n); }\n',
}
STATUSES = range(51)
MEANINGS: dict[str, dict[int, str]] = {
    "testlib": {0: "AC", 1: "WA", 2: "WA", 4: "WA", 8: "WA"},
    "kattis": {42: "AC", 43: "WA"},
    "domjudge": {42: "AC", 43: "WA"},
    "scalebox": {0: "AC", 1: "WA"},
    "codeforces-python": {},  # it says nothing
}
EXITS = {
    "python": "import os, sys\nos._exit(int(sys.argv[-1]))",
    "cpp": "#include <cstdlib>\nint main(int n, char **v) { std::_Exit(std::atoi(v[n - 1])); }\n",
}


def judge(language: str, source: str, protocol: str, **fields: Any) -> dict[str, Any]:
    program = {"type": "program", "language": language, "source": source, "protocol": protocol, "limits": LIMITS}
    return program | fields


@pytest.mark.parametrize(("protocol", "language"), crosswise(MEANINGS, EXITS))
def test_every_exit_status_has_its_meaning(service: Service, protocol: str, language: str) -> None:
    submissions = [
        {"id": f"{protocol} {language} {status}"}
        | {"checker": judge(language, EXITS[language], protocol, arguments=[str(status)])}
        for status in STATUSES
    ]
    common = {"language": language, "code": CODES[language], "tests": [TEST]}
    grades = service.client.batch(submissions, **common)
    found = {status: grades[f"{protocol} {language} {status}"]["verdict"] for status in STATUSES}
    assert found == {status: MEANINGS[protocol].get(status, "IE") for status in STATUSES}


# --- what a judge does: its last argument is the name; the protocol is Kattis'

NATIVE = r"""
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>
static std::string folder;
static void nested(int depth) {
    if (depth == 0) _exit(42);
    std::thread(nested, depth - 1).join();
}
static bool fill(const char *name, size_t size) {
    static char piece[1 << 20];
    int fd = open((folder + name).c_str(), O_WRONLY | O_CREAT, 0644);
    bool whole = fd >= 0;
    for (size_t at = 0; whole && at < size; at += sizeof piece) whole = write(fd, piece, sizeof piece) == sizeof piece;
    close(fd);
    return whole;
}
static void say(const char *name, const char *text) {
    FILE *file = fopen((folder + name).c_str(), "a");
    fputs(text, file);
    fclose(file);
}
int main(int count, char **words) {
    std::string how = words[count - 1];
    folder = words[3];
    if (how == "reads nothing") return 43;
    if (how == "64 MiB of feedback") return fill("much", 64 << 20) ? 42 : 43;
    if (how == "64 MiB of feedback, ignored") { signal(SIGXFSZ, SIG_IGN); return fill("much", 64 << 20) ? 43 : 42; }
    if (how == "feedback without end") for (;;) say("much", std::string(1 << 20, 'x').c_str());
    if (how == "64 files of feedback") {
        for (int i = 0; i < 64; i++) fill(std::to_string(i).c_str(), 1 << 20);
        return 42;
    }
    if (how == "fills the folder") {
        signal(SIGXFSZ, SIG_IGN);
        for (int i = 0; i < 60; i++) fill(std::to_string(i).c_str(), 16 << 20);
        return 42;
    }
    if (how == "a long message") { fill("judgemessage.txt", 8 << 20); return 43; }
    if (how == "nested threads") nested(100);
    if (how == "ends in a thread") { std::thread([] { usleep(20000); exit(43); }).detach(); pthread_exit(nullptr); }
    if (how == "a thread spins on") { std::thread([] { for (;;) ; }).detach(); return 42; }
    if (how == "a thousand threads") {
        std::vector<std::thread> all;
        try { for (int i = 0; i < 1000; i++) all.emplace_back([] { pause(); }); } catch (...) { _exit(42); }
        _exit(43);
    }
    if (how == "an exception") throw 1;
    if (how == "an exception in a thread") { std::thread([] { throw 1; }).join(); }
    if (how == "ends by SIGTERM") kill(getpid(), SIGTERM);
    if (how == "ends by an alarm") { alarm(1); pause(); }
    if (how == "blocks all signals") { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) ; }
    if (how == "64 MiB on stderr") {
        for (int i = 0; i < 64 << 10; i++) fputs(std::string(1024, 'x').c_str(), stderr);
        return 42;
    }
    if (how == "a socket") return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 42 : 43;
    if (how == "a child") return fork() < 0 ? 42 : 43;
    if (how == "a program") { execl("/bin/true", "true", nullptr); return 42; }
    if (how == "a fifo") return mkfifo((folder + "judgemessage.txt").c_str(), 0600) ? 42 : 43;
    if (how == "a message that cannot be read") {
        say("judgemessage.txt", "x");
        chmod((folder + "judgemessage.txt").c_str(), 0);
        return 43;
    }
    if (how == "a folder that cannot be read") { say("judgemessage.txt", "x"); chmod(folder.c_str(), 0); return 43; }
    if (how == "no folder") return rename(folder.c_str(), "other") && rmdir(folder.c_str()) ? 42 : 43;
    if (how == "odd names") {
        for (int byte = 1; byte < 256; byte++) if (byte != '/') say((std::string("n") + char(byte)).c_str(), "x");
        return 42;
    }
    if (how == "a score at both ends") { say("score.txt", "0.5"); say("score.txt", "0.5"); return 42; }
    if (how == "the smallest score") { say("score.txt", "5e-324"); return 42; }
    if (how == "a score with zeros") { say("score.txt", std::string(3000, '0').append("0.5").c_str()); return 42; }
    if (how == "a score with a NUL") {
        int fd = creat((folder + "score.txt").c_str(), 0600);
        return write(fd, "0.5\0", 4) == 4 ? 42 : 43;
    }
    if (how == "a score with a BOM") { say("score.txt", "\xef\xbb\xbf" "0.5"); return 42; }
    if (how == "a lower limit of files") { rlimit few = {0, 0}; setrlimit(RLIMIT_NOFILE, &few); return 42; }
    return 99;
}
"""
DONE: dict[str, tuple[str, float | None]] = {
    "reads nothing": ("WA", None),
    "64 MiB of feedback": ("WA", None),  # it sees that there is no room
    "feedback without end": ("IE", None),  # ended by SIGXFSZ
    "64 MiB of feedback, ignored": ("AC", None),
    "64 files of feedback": ("AC", None),
    "fills the folder": ("AC", None),
    "a long message": ("WA", None),
    "nested threads": ("AC", None),
    "ends in a thread": ("WA", None),
    "a thread spins on": ("AC", None),
    "a thousand threads": ("AC", None),
    "an exception": ("IE", None),
    "an exception in a thread": ("IE", None),
    "ends by SIGTERM": ("IE", None),
    "ends by an alarm": ("IE", None),
    "blocks all signals": ("IE", None),
    "64 MiB on stderr": ("IE", None),
    "a socket": ("AC", None),
    "a child": ("AC", None),
    "a program": ("AC", None),
    "a fifo": ("AC", None),
    "a message that cannot be read": ("WA", None),
    "a folder that cannot be read": ("WA", None),
    "no folder": ("AC", None),
    "odd names": ("AC", None),
    "a score at both ends": ("IE", None),
    "the smallest score": ("AC", 5e-324),
    "a score with zeros": ("AC", 0.5),
    "a score with a NUL": ("IE", None),
    "a score with a BOM": ("IE", None),
    "a lower limit of files": ("AC", None),
}


@pytest.mark.parametrize("language", one_in(2, CODES))
def test_whatever_a_judge_does_it_has_one_verdict_and_spoils_no_other(service: Service, language: str) -> None:
    ids = {how: f"{how} behind {language}" for how in DONE}
    patient = LIMITS | {"cpu_seconds": 10.0}  # files until there is no room took a second on a busy machine
    limits = {how: patient if how == "fills the folder" else LIMITS for how in DONE}
    submissions = [
        {"id": ids[how], "checker": judge("cpp", NATIVE, "kattis", arguments=[how], limits=limits[how])} for how in DONE
    ]
    # behind each a plain judge: nothing of the one before is left
    compares = judge("cpp", "int main() { return 42; }\n", "kattis")
    submissions += [{"id": f"after {ids[how]}", "checker": compares} for how in DONE]
    common = {"language": language, "code": CODES[language], "tests": [TEST, TEST]}
    answers = service.client.batch(submissions, **common, reward={"scheme": "fraction"})
    grades = {how: answers[ids[how]] for how in DONE}
    found = {how: (grades[how]["verdict"], grades[how]["tests"][0]["share"]) for how in DONE}
    wrong = {how: (found[how], grades[how]["failure_reason"]) for how in DONE if found[how] != DONE[how]}
    assert wrong == {}
    assert {answers[f"after {ids[how]}"]["verdict"] for how in DONE} == {"AC"}


# --- outputs: what a program writes reaches the judge byte for byte

OUTPUTS: dict[str, bytes] = {
    "nothing": b"",
    "no end of line": b"6",
    "only ends of lines": b"\n\n\n",
    "a byte order mark": b"\xef\xbb\xbf6\n",
    "carriage returns": b"6\r\n7\r\n",
    "old Macintosh": b"6\r7\r",
    "zeros": b"\0\0006\0\n",
    "all bytes": bytes(range(256)),
    "no text": b"\xff\xfe6\x80\n",
    "half a character": b"6 \xe2\x82",
    "other ends of lines": "6\u2028 7\u0085 8\x0b 9\x0c".encode(),
    "a token of a million": b"6" * 1_000_000,
    "a million tokens": b"6 " * 500_000,
    "no numbers": b"nan inf -nan 1e999 0x1p3\n",
}
SAYS = {
    "python": "import base64, sys, zlib\nsys.stdout.buffer.write(zlib.decompress(base64.b64decode('PACKED')))",
    "cpp": """#include <cstdio>
int main() {
    int byte, count;
    while (std::scanf("%d:%d", &byte, &count) == 2)
        while (count--) std::putchar(byte);
}
""",
}
# the answer has the bytes of the output in hexadecimal
COMPARES = {
    "testlib": """#include <cstdio>
int main(int, char **names) {
    std::FILE *output = std::fopen(names[2], "rb"), *answer = std::fopen(names[3], "r");
    int wanted;
    while (std::fscanf(answer, "%2x", &wanted) == 1) if (std::getc(output) != wanted) return 1;
    return std::getc(output) != EOF;
}
""",
    "kattis": """#include <cstdio>
int main(int, char **names) {
    std::FILE *answer = std::fopen(names[2], "r");
    int wanted;
    while (std::fscanf(answer, "%2x", &wanted) == 1) if (std::getchar() != wanted) return 43;
    return std::getchar() != EOF ? 43 : 42;
}
""",
    "codeforces-python": """import sys
output, answer = open(sys.argv[3], "rb").read(), open(sys.argv[2]).read()
print(int(output == bytes.fromhex(answer)))
""",
    "function": """def check(input, output, answer):
    return output == bytes.fromhex(answer).decode("utf-8", "replace")
""",
}


def runs(output: bytes) -> str:
    """The output as `byte:count` words, for the program in C++."""
    words, at = [], 0
    while at < len(output):
        end = at
        while end < len(output) and output[end] == output[at]:
            end += 1
        words.append(f"{output[at]}:{end - at}")
        at = end
    return " ".join(words)


@pytest.mark.parametrize(("protocol", "language"), crosswise(COMPARES, SAYS))
def test_an_output_reaches_the_judge_byte_for_byte(service: Service, protocol: str, language: str) -> None:
    native = protocol in ("testlib", "kattis")
    limits = LIMITS | {"output_bytes": 4 << 20}
    checker = judge("cpp" if native else "python", COMPARES[protocol], protocol, limits=limits)
    submissions = []
    for name, output in OUTPUTS.items():
        test = {"type": "stdin", "input": runs(output), "output": output.hex()}
        packed = base64.b64encode(zlib.compress(output)).decode()
        submissions.append(
            {"id": f"{name} {protocol} {language}", "code": SAYS[language].replace("PACKED", packed), "tests": [test]}
        )
        # and an output with one more byte is another one
        more = test | {"output": (output + b"7").hex()}
        submissions.append(submissions[-1] | {"id": f"not {submissions[-1]['id']}", "tests": [more]})
    grades = service.client.batch(submissions, language=language, checker=checker)
    found = {name: grades[f"{name} {protocol} {language}"]["verdict"] for name in OUTPUTS}
    assert found == dict.fromkeys(OUTPUTS, "AC")
    found = {name: grades[f"not {name} {protocol} {language}"]["verdict"] for name in OUTPUTS}
    assert found == dict.fromkeys(OUTPUTS, "WA")


# --- points: of a test in a group, and at their bounds

POINTS: dict[str, tuple[str, float | None]] = {
    "points 0": ("WA", 0.0),
    "points -0": ("WA", 0.0),
    "points 1e-400": ("WA", 0.0),
    "points 99.9999999": ("WA", 0.999999999),
    "points 100.00000001": ("AC", 1.0),  # by rounding
    "points 100.1": ("IE", None),
    "points 1e308": ("IE", None),
    "points nan": ("IE", None),
    "points inf": ("IE", None),
    "points -inf": ("IE", None),
    "points 1_0": ("IE", None),
    "points 50 of 100": ("WA", 0.5),
    "points\\n50": ("WA", 0.5),
    "points (50)": ("WA", 0.5),
    "Points 50": ("IE", None),
    "ok points 50": ("IE", None),
    "": ("IE", None),
}
AWARDS = """#include <cstdio>
int main(int count, char **words) {
    for (char *at = words[count - 1]; *at; at++)
        if (at[0] == '\\\\' && at[1] == 'n') { std::fputc('\\n', stderr); at++; } else std::fputc(*at, stderr);
    return 7;
}
"""


@pytest.mark.parametrize("language", CODES)
def test_points_are_a_number_up_to_the_full_score(service: Service, language: str) -> None:
    submissions = [
        {"id": f"{said} in {language}"}
        | {"checker": judge("cpp", AWARDS, "testlib", arguments=[said], full_score=100.0)}
        for said in POINTS
    ]
    common = {"language": language, "code": CODES[language], "tests": [TEST], "reward": {"scheme": "fraction"}}
    grades = service.client.batch(submissions, **common)
    found = {said: grades[f"{said} in {language}"] for said in POINTS}
    assert {said: (grade["verdict"], grade["tests"][0]["share"]) for said, grade in found.items()} == POINTS


@pytest.mark.parametrize("language", CODES)
def test_parts_of_groups_add_up(service: Service, language: str) -> None:
    checker = judge("cpp", AWARDS, "testlib", full_score=100.0)
    awarded = {"min": (100, 50), "all": (100, 100), "sum": (0, 100), "max": (0, 40)}
    tests = [
        TEST | {"group": rule, "judge_arguments": [f"points {points}"]}
        for rule, each in awarded.items()
        for points in each
    ]
    points = {"min": 20.0, "all": 30.0, "sum": 30.0, "max": 20.0}
    groups = [{"name": rule, "rule": rule, "points": points[rule]} for rule in awarded]
    scored = {"tests": tests, "groups": groups, "reward": {"scheme": "score"}, "checker": checker}
    grade = service.grade(language=language, code=CODES[language], **scored)
    assert {group["name"]: group["score"] for group in grade["groups"]} == pytest.approx(
        {"min": 10.0, "all": 30.0, "sum": 15.0, "max": 8.0}
    )
    assert grade["reward"] == pytest.approx(0.63)


# --- passes

TEN_PASSES = r"""
#include <fstream>
#include <string>
#include <iostream>
int main(int argc, char **words) {
    std::string folder = words[3];
    long given, printed, seen = 0, first = 0;
    std::ifstream(words[1]) >> given;
    std::ifstream(folder + "state") >> seen >> first;
    if (!(std::cin >> printed) || printed != 2 * given) return 43;
    if (seen == 0) first = given;
    if (given != first << seen) return 43;
    if (++seen == 10) return 42;
    std::ofstream(folder + "state") << seen << " " << first;
    std::ofstream(folder + "nextpass.in") << printed << "\n";
    return 42;
}
"""


@pytest.mark.parametrize("language", CODES)
def test_ten_passes_each_have_the_output_of_the_one_before(service: Service, language: str) -> None:
    checker = judge("cpp", TEN_PASSES, "kattis", passes=10)
    common = {"language": language, "tests": [TEST, TEST | {"input": "5\n"}], "checker": checker}
    grade = service.grade(code=CODES[language], **common)
    assert grade["verdict"] == "AC", grade["message"]
    fails_late = {
        "python": "n = int(input())\nassert n < 3 << 9\nprint(2 * n)",
        "cpp": CODES["cpp"].replace("std::printf", "if (n >= 3 << 9) return 1; std::printf"),
    }
    assert service.grade(code=fails_late[language], **common)["verdict"] == "RTE"
    wrong_late = {name: code.replace("2 * n", "2 * n + (n >= 1 << 9)") for name, code in fails_late.items()}
    assert service.grade(code=wrong_late[language], **common)["verdict"] == "WA"
    late = service.grade(code=CODES[language], **(common | {"checker": checker | {"passes": 9}}))
    assert (late["verdict"], late["failure_kind"]) == ("IE", "bad_checker")
