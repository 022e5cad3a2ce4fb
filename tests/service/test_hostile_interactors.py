"""Native interactors: every exit status, and odd ways to ask and to end."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Service
from tests.service.test_hostile_judges import EXITS, MEANINGS, STATUSES, judge

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

TALKS = {
    "python": "import sys\nfor line in sys.stdin:\n    print(2 * int(line), flush=True)",
    "cpp": """#include <cstdio>
int main() {
    long n;
    while (std::scanf("%ld", &n) == 1) { std::printf("%ld\\n", 2 * n); std::fflush(stdout); }
}
""",
}
INTERACTOR = r"""
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>
int main(int count, char **words) {
    std::string how = words[count - 1], place = words[2], folder = count > 4 ? words[3] : "";
    long answer = 0;
    if (how == "asks in pieces") { std::cout << "1" << std::flush; usleep(100000); std::cout << "2\n" << std::flush; }
    else if (how == "asks with carriage returns") std::cout << "12\r\n" << std::flush;
    else if (how == "asks without an end of line") { std::cout << "12" << std::flush; close(1); }
    else if (how == "asks with a long line") std::cout << std::string(100000, ' ') << "12\n" << std::flush;
    else if (how == "ends at once, right") return 42;
    else if (how == "ends at once, wrong") return 43;
    else if (how == "says nothing") close(1);
    else std::cout << "12\n" << std::flush;
    if (how == "ends without reading") return 42;
    if (how == "says nothing") return std::cin >> answer ? 43 : 42;
    if (!(std::cin >> answer) || answer != 24) return 44;
    if (how == "asks 5000 times") for (long i = 0; i < 5000; i++) {
        std::cout << i << "\n" << std::flush;
        if (!(std::cin >> answer) || answer != 2 * i) return 44;
    }
    if (how == "half a score") std::ofstream(folder + "score.txt") << "0.5";
    if (how == "reads to the end") { close(1); std::string rest; return std::cin >> rest ? 43 : 42; }
    if (how == "closes everything") for (int fd = 0; fd < 99; fd++) close(fd);
    if (how == "writes on") for (int i = 0; i < 50000; i++) std::cout << "1\n";
    if (how == "crashes") abort();
    return 42;
}
"""
TALKED: dict[str, tuple[str, float | None]] = {
    "asks once": ("AC", None),
    "asks in pieces": ("AC", None),
    "asks with carriage returns": ("AC", None),
    "asks without an end of line": ("AC", None),
    "asks with a long line": ("AC", None),
    "asks 5000 times": ("AC", None),
    "ends at once, right": ("AC", None),
    "ends at once, wrong": ("WA", None),
    "ends without reading": ("AC", None),
    "says nothing": ("AC", None),
    "half a score": ("AC", 0.5),
    "reads to the end": ("AC", None),
    "closes everything": ("AC", None),
    "writes on": ("AC", None),
    "crashes": ("IE", None),
}


@pytest.mark.parametrize("language", TALKS)
def test_a_native_interactor_may_end_and_ask_in_any_way(service: Service, language: str) -> None:
    submissions = [
        {"id": f"{how} {language}", "interactor": judge("cpp", INTERACTOR, "kattis", arguments=[how])} for how in TALKED
    ]
    common = {"language": language, "code": TALKS[language], "tests": [{"type": "interactive"}]}
    grades = service.client.batch(submissions, **common)
    found = {how: grades[f"{how} {language}"] for how in TALKED}
    wrong = {how: (grade["verdict"], grade["failure_reason"], grade["message"]) for how, grade in found.items()}
    assert {how: (found[how]["verdict"], found[how]["tests"][0]["share"]) for how in TALKED} == TALKED, wrong


@pytest.mark.parametrize("protocol", ["testlib", "kattis", "domjudge"])
def test_every_exit_status_of_an_interactor_has_its_meaning(service: Service, protocol: str) -> None:
    submissions = [
        {"id": f"interactor {protocol} {status}"}
        | {"interactor": judge("cpp", EXITS["cpp"], protocol, arguments=[str(status)])}
        for status in STATUSES
    ]
    common = {"language": "cpp", "code": TALKS["cpp"], "tests": [{"type": "interactive"}]}
    grades = service.client.batch(submissions, **common)
    found = {status: grades[f"interactor {protocol} {status}"]["verdict"] for status in STATUSES}
    assert found == {status: MEANINGS[protocol].get(status, "IE") for status in STATUSES}
