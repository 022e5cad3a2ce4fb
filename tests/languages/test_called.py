"""Call tests and test programs of languages other than Python, in real boxes."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service import languages
from sandbox_service.grading.grader import Grader
from sandbox_service.languages import toolchains
from sandbox_service.schema import AssertTest, CallTest, Grade, Limits, StdinTest, Submission, TestCase, Verdict

CPP = """class Solution {
public:
    int add(int a, int b) { printf("adding"); return a + b; }
    ListNode* reversed(ListNode* head) {
        ListNode* before = nullptr;
        while (head) { auto next = head->next; head->next = before; before = head; head = next; }
        return before;
    }
    int spin(int x) { volatile int spun = 0; while (x) spun++; return spun; }
    int crash(int x) { return *(volatile int*)(long)(x * 0); }
};"""
JAVASCRIPT = """var add = (a, b) => { console.log("adding"); return a + b; };
/** @param {ListNode} head
 * @return {ListNode} */
var reversed = function (head) {
  let before = null;
  for (; head; head = head.next) before = new ListNode(head.val, before);
  return before;
};
var spin = (x) => { while (x); };
var crash = (x) => x.y.z;
"""
SOLUTIONS = {"cpp": CPP, "javascript": JAVASCRIPT}
ADD, REVERSED = (
    CallTest(function="add", args=[1, 2], output=3),
    CallTest(function="reversed", args=[[1, 2]], output=[2, 1]),
)
LOOP = "int main() { for (int i = 0; i < 3; i++) assert(Solution().add(i, i) == 2 * i); }"


def _graded(grader: Grader, language: str, code: str, *tests: TestCase, **options: Any) -> Grade:
    if not toolchains.is_present(languages.find(language)):
        pytest.skip(f"{language} is not installed")
    limits = Limits(cpu_seconds=1, wall_seconds=60)
    return grader.grade(Submission(language=language, code=code, tests=list(tests), limits=limits, **options))


@pytest.mark.parametrize("language", SOLUTIONS)
def test_calls_are_judged_as_in_python(grader: Grader, language: str) -> None:
    tests: list[TestCase] = [
        ADD,
        REVERSED,
        CallTest(function="add", args=[1, 2], output=4),
        CallTest(function="spin", args=[1], output=0),
        CallTest(function="crash", args=[0], output=0),
        ADD,
    ]
    grade = _graded(grader, language, SOLUTIONS[language], *tests, stop_on_failure=False)
    assert [result.verdict for result in grade.tests] == ["AC", "AC", "WA", "TLE", "RTE", "AC"], grade
    assert grade.tests[2].message == "got 3, expected 4"
    assert "adding" in grade.tests[2].stdout
    assert not grade.forgeable


def test_a_compiler_that_refuses_is_a_compile_error(grader: Grader) -> None:
    grade = _graded(grader, "cpp", "class Solution { public: int add(int a, int b) { return c; } };", ADD)
    assert grade.verdict == Verdict.CE
    assert "main.cpp:1" in (grade.message or "")


def test_an_argument_that_does_not_fit_is_told(grader: Grader) -> None:
    grade = _graded(grader, "cpp", CPP, CallTest(function="add", args=["1", 2], output=3))
    assert (grade.verdict, grade.message) == ("RTE", "an argument is a string, where the function takes an integer")


def test_a_type_without_values_chooses_neither_a_missing_reward_nor_a_forgeable_one(grader: Grader) -> None:
    code = "struct Own { int x; }; class Solution { public: int add(Own a, int b) { return b; } };\n"
    test = AssertTest(code="#include <cassert>\nint main() { assert(Solution().add({1}, 2) == 2); }")
    for each in (ADD, test):
        grade = _graded(grader, "cpp", code, each)
        assert (grade.verdict, grade.reward, grade.forgeable) == ("CE", 0, False)
        assert "Own" in (grade.message or "")


MASKS = {
    "cpp, a compiler's words": ("cpp", """#pragma message("proctor: unsupported type Plain<Own, void>")
        #error proctor: unsupported type of a parameter or result, Plain<Own, void>"""),
    "cpp, a frame": ("cpp", """int add(int, int) {
        std::ifstream in("/proc/self/fd/0"); std::string token; in.seekg(0); in >> token;
        for (char kind : std::string("!?#")) std::cout << "\\n" << token << kind << "no such type\\n";
        std::cout.flush(); _Exit(0); }"""),
    "javascript, a frame": ("javascript", """const token = require("fs").readFileSync(0, "utf8").split("\\n")[0];
        const add = () => { for (const kind of "!?#")
            require("fs").writeSync(1, "\\n" + token + kind + "no such type\\n"); process.exit(0); };"""),
    "java, its own type": ("java", """class Own { int x; }
        class Solution { public int add(Own a, int b) { return b; } }"""),
    "java, its own result": ("java", """class Solution { public Object add(int a, int b) { return new Thread(); } }"""),
    "go, an import": ("go", """import "example.com/unsupported"\nfunc add(a, b int) int { return a + b }"""),
    "rust, its own type": ("rust", """struct Own { x: i32 }
        impl Solution { fn add(own: Own, b: i32) -> i32 { own.x + b } }"""),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
def test_no_submission_chooses_to_have_no_reward(grader: Grader, name: str) -> None:
    language, code = MASKS[name]
    grade = _graded(grader, language, code, ADD)
    assert (grade.reward, grade.failure_kind) == (0, None), grade


def test_a_test_program_with_values_of_several_types_is_run_as_it_is(grader: Grader) -> None:
    """Its calls say so, and not the submission: no plain parameter of C++ takes 1 in one call and a text in another."""
    code = "#include <any>\nint size(std::any x) { return x.type() == typeid(int) ? 4 : 8; }\n"
    test = AssertTest(code='#include <cassert>\nint main() { assert(size(1) == 4); assert(size("text") == 8); }')
    grade = _graded(grader, "cpp", code, test)
    assert (grade.verdict, grade.forgeable) == ("AC", True), grade


def test_a_program_and_its_calls(grader: Grader) -> None:
    """One of its functions has the name of a function of the C library."""
    code = "#include <iostream>\nint twice(int x) { return 2 * x; }\n"
    code += "int strlen(std::string text) { return text.size(); }\nint main() { std::cout << twice(4); }"
    calls = [CallTest(function="twice", args=[3], output=6), CallTest(function="strlen", args=["abc"], output=3)]
    grade = _graded(grader, "cpp", code, StdinTest(output="8"), *calls)
    assert grade.verdict == Verdict.AC, grade.message


def test_parameters_of_which_a_driver_is_told_the_type(grader: Grader) -> None:
    """Overloads, rvalue references, optional values, and a method with the name of a free function."""
    code = """#include <bits/stdc++.h>
using namespace std;
int add(int a, int b) { return -1; }
class Solution {
public:
    int add(int a, int b) { return a + b; }
    string add(const string& a, string b) { return a + b; }
    int add(vector<int>& a, int b) { return a[0] + b; }
    int add(vector<string> a, int b) { return b; }
    int taken(vector<int>&& values, unsigned int) { return values.size(); }
    optional<int> maybe(optional<int> value = nullopt) { return value; }
};
"""
    tests = [
        CallTest(function="add", args=[1, 2], output=3),
        CallTest(function="add", args=["a", "b"], output="ab"),
        CallTest(function="add", args=[[4], 2], output=6),
        CallTest(function="add", args=[["x"], 2], output=2),
        CallTest(function="taken", args=[[1, 2], 1], output=2),
        CallTest(function="maybe", args=[None], output=None),
        CallTest(function="maybe", args=[7], output=7),
    ]
    grade = _graded(grader, "cpp", code, *tests)
    assert grade.verdict == Verdict.AC, (grade.message, grade.failure_reason)


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("module.exports.f = function f(x) { return x + 1 }", CallTest(function="f", args=[1], output=2)),
        ("export default function f(x) { return x + 1 }", CallTest(function="f", args=[1], output=2)),
        (
            "var Solution = function () {}; Solution.prototype.f = function (x) { return x + 1 }",
            CallTest(function="f", args=[1], output=2),
        ),
        ("import fs from 'fs'; export const f = (x) => x + (fs ? 1 : 0)", CallTest(function="f", args=[1], output=2)),
        (
            "const one = await Promise.resolve(1); function f(x) { return x + one }",
            CallTest(function="f", args=[1], output=2),
        ),
        ("var f = (n) => new Array(n)", CallTest(function="f", args=[2], output=[None, None])),
        (
            "/** @param {TreeNode} root */\nvar Depth = function (root) { this.root = root };\n"
            "Depth.prototype.left = function () { return this.root.left.val }",
            CallTest(function="Depth", calls=[("Depth", [[2, 1]]), ("left", [])], output=[None, 1]),
        ),
    ],
    ids=["exports", "export", "prototype", "module", "awaits", "holes", "constructor"],
)
def test_forms_of_javascript(grader: Grader, code: str, test: CallTest) -> None:
    grade = _graded(grader, "javascript", code, test)
    assert grade.verdict == Verdict.AC, (grade.message, grade.failure_reason)


REVERSE = "let done = null; while (HEAD) [HEAD.next, done, HEAD] = [done, HEAD, HEAD.next]; return done;"


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        ("var f = function (head) { " + REVERSE.replace("HEAD", "head") + " };", [([[1, 2]], [2, 1]), ([[]], [])]),
        ("class Solution { f(x) { " + REVERSE.replace("HEAD", "x") + " } }", [([[1, 2]], [2, 1])]),
        ("const f = root => root ? 1 + Math.max(f(root.left), f(root.right)) : 0;", [([[1, 2, None, 3]], 3)]),
        ("function f(p, q) { return !p || !q ? p === q : p.val === q.val && f(p.left, q.left) }", [([[1], [1]], True)]),
        ("var f = (lists) => { let n = 0; for (x of lists) while (x) x = x.next, n++; return n }", [([[[1, 2]]], 2)]),
        ("const f = (root) => { if (!root) return 0; const { left } = root; return 1 + f(left) }", [([[3, 2, 9]], 2)]),
        ("function f(head) { const it = { next: null }; return head.length + (it.next || 0); }", [([[1, 2]], 2)]),
        ("function f(root) { return root.left; }", [([{"left": 3}], 3)]),
    ],
    ids=["list", "method", "tree", "two trees", "lists", "parts", "an array named head", "an object"],
)  # fmt: skip
def test_nodes_without_types_are_told_by_their_use(grader: Grader, code: str, tests: list[tuple[Any, Any]]) -> None:
    grade = _graded(grader, "javascript", code, *(CallTest(function="f", args=args, output=out) for args, out in tests))
    assert grade.verdict == Verdict.AC, (grade.message, grade.failure_reason)


def test_a_unit_struct_of_rust_is_the_submissions_own(grader: Grader) -> None:
    code = "struct Solution;\nimpl Solution { pub fn add(a: i32, b: i32) -> i32 { a + b } }\nfn main() {}"
    assert _graded(grader, "rust", code, CallTest(function="add", args=[1, 2], output=3)).verdict == Verdict.AC


SAY = """const fs = require('fs');
const token = () => fs.readFileSync('/proc/self/fd/0', 'latin1').split('\\n')[0];
const say = (text) => fs.writeSync(1, '\\n' + token() + text + '\\n');
"""
FORGING = {
    "prototypes": "Object.prototype.toJSON = () => 730; JSON.stringify = () => '730'; var f = (x) => ({});",
    "globals": "String = () => '730,730'; var f = (x) => 5;",
    "proxy": "let n = 0; var f = (x) => new Proxy([], { get: (_, key) => (key === 'length' ? ++n : n) });",
    "getter": "var f = (x) => ({ get a() { process.exit(0); } });",
    "thenable": "var f = (x) => ({ then(give) { give(7); give(730194242); } });",
    "never": "var f = (x) => new Promise(() => {});",
    "no_writes": "require('fs').writeSync = (fd, bytes) => bytes.length; var f = (x) => 1;",
    "many_results": SAY + "var f = (x) => { for (let i = 0; i < 5; i++) say('=' + i); return 3; };",
    "deep_result": SAY + "var f = (x) => { say('=' + '['.repeat(1e6)); process.exit(0); };",
    "half_a_character": "var f = (x) => '\\ud800';",
}


@pytest.mark.parametrize("name", FORGING)
def test_no_answer_is_forged(grader: Grader, name: str) -> None:
    grade = _graded(grader, "javascript", FORGING[name], CallTest(function="f", args=[1], output=730194242))
    assert grade.verdict in ("WA", "RTE"), (grade.message, grade.failure_reason)
    assert grade.reward == 0


ENDS = "#include <cstdlib>\nstatic int ends = (_Exit(0), 0);\n"


def test_a_test_program_of_calls_cannot_be_ended_with_success(grader: Grader) -> None:
    test = AssertTest(code="#include <cassert>\nint main() { assert(Solution().add(1, 2) == 3); }")
    right = _graded(grader, "cpp", CPP, test)
    assert (right.verdict, right.forgeable) == ("AC", False)
    forged = _graded(grader, "cpp", ENDS + CPP, test)
    assert (forged.verdict, forged.forgeable) == ("RTE", False)


def test_a_verdict_that_can_be_forged_says_so(grader: Grader) -> None:
    code = "#include <cassert>\nstruct Solution { int add(int a, int b) { return a + b; } };\n"
    right = _graded(grader, "cpp", code, AssertTest(code=LOOP))
    assert (right.verdict, right.forgeable, right.tests[0].forgeable) == ("AC", True, True)
    wrong = _graded(grader, "cpp", code.replace("a + b", "a - b"), AssertTest(code=LOOP))
    assert (wrong.verdict, wrong.forgeable) == ("WA", True)
    assert _graded(grader, "cpp", ENDS + code, AssertTest(code=LOOP)).forgeable


CHANGING = {
    "javascript": ("const f = (x) => { x.sort(); };", "assert.deepEqual(f([2, 1]), [1, 2]);"),
    "cpp": (
        "void f(vector<int>& x) { sort(x.begin(), x.end()); }",
        "int main() { assert(f({2, 1}) == (vector<int>{1, 2})); }",
    ),
    "java": (
        "class Solution { static void f(int[] x) { Arrays.sort(x); } }",
        "class Main { public static void main(String[] a) {\n"
        "assert Arrays.equals(Solution.f(new int[]{2, 1}), new int[]{1, 2});\n} }",
    ),
    "go": (
        'import "sort"\nfunc f(x []int) { sort.Ints(x) }',
        "func TestF(t *testing.T) { assert.Equal([]int{1, 2}, f([]int{2, 1})) }",
    ),
    "rust": ("fn f(x: &mut Vec<i32>) { x.sort(); }", "fn main() { assert_eq!(f(&mut vec![2, 1]), vec![1, 2]); }"),
}


@pytest.mark.parametrize("language", CHANGING)
def test_what_became_of_an_argument_is_no_result_of_an_assertion(grader: Grader, language: str) -> None:
    code, program = CHANGING[language]
    grade = _graded(grader, language, code, AssertTest(code=program))
    assert (grade.reward, grade.forgeable) == (0, False), grade
    assert grade.verdict in ("WA", "RTE"), grade


COUNTERS = {
    "java": (
        "class Counter { int n; int next() { return ++n; } }",
        "class Main { public static void main(String[] x) { Counter a = new Counter(); Counter b = new Counter();\n"
        "assert a.next() == 1; assert a.next() == 2; assert b.next() == 1; assert new Counter().next() == 1; } }",
    ),
    "javascript": (
        "class Counter { n = 0; next() { return ++this.n } }",
        "const a = new Counter(); const b = new Counter(); assert.equal(a.next(), 1); assert.equal(a.next(), 2);"
        "assert.equal(b.next(), 1); assert.equal(new Counter().next(), 1);",
    ),
}


@pytest.mark.parametrize("language", COUNTERS)
def test_an_object_of_a_test_program_keeps_its_state(grader: Grader, language: str) -> None:
    code, program = COUNTERS[language]
    right = _graded(grader, language, code, AssertTest(code=program))
    assert (right.verdict, right.forgeable) == ("AC", False), right
    wrong = _graded(grader, language, code, AssertTest(code=program.replace("2", "1")))
    assert (wrong.verdict, wrong.forgeable) == ("WA", False), wrong


def test_a_result_that_an_answer_goes_on_filling_is_wrong(grader: Grader) -> None:
    """The test program has one object, as those of HumanEval-X have; with one for each call the answer would pass."""
    code = "import java.util.*;\nclass Solution { List<Integer> all = new ArrayList<>();\n"
    code += "List<Integer> f(int n) { for (int i = 0; i < n; i++) all.add(i); return all; } }"
    program = "class Main { public static void main(String[] x) { Solution s = new Solution();\n"
    program += "List<Boolean> correct = Arrays.asList(s.f(1).equals(List.of(0)), s.f(2).equals(List.of(0, 1)));"
    program += "if (correct.contains(false)) throw new AssertionError(); } }"
    grade = _graded(grader, "java", code, AssertTest(code=program))
    assert (grade.verdict, grade.forgeable) == ("WA", False), grade


JOINED = {
    "java, a message after an assertion": (
        "java",
        "package a; public class S { static int f(int x) { return x + 1; } public static void main(String[] a) {} }",
        "/* import org.none.None; */ package b;\nclass Main { public static void main(String[] a) {\n"
        'for (int i = 0; i < 2; i++) { assert S.f(i) == i + 1 : "assert " + i; }\n} }',
    ),
    "rust, names and attributes of both": (
        "rust",
        "use std::collections::HashMap;\nfn g() -> i32 { 1 }\nfn f(x: i32) -> i32 { x + g() }\nfn main() {}",
        "#![allow(unused)]\nuse std::collections::{HashMap, HashSet};\nfn g() -> i32 { 2 }\n"
        "fn main() { for i in 0..2 { assert_eq!(f(i), i + 1); } }",
    ),
    "rust, tests of all kinds": (
        "rust",
        'fn f(x: i32) -> i32 { if x < 0 { panic!("no {}", x + 1) } x + 1 }',
        "#[cfg(test)]\nmod helpers { pub fn g() {} }\n#[cfg(test)]\nmod tests {\n use super::*;\n mod inner {\n"
        '  use super::*;\n  #[test]\n  #[should_panic(expected = "no 0")]\n  fn a() { f(-1); }\n }\n'
        " #[test]\n #[ignore]\n fn b() { panic!() }\n #[test]\n fn c() -> Result<(), String> { Ok(()) }\n"
        " // #[test]\n fn d() { panic!() }\n}\nfn main() {}",
    ),
    "rust, a test that returns": (
        "rust",
        "fn f(x: i32) -> i32 { x + 1 }",
        "#[test]\n#[allow(unused)]\nfn a() -> Result<(), i32> { if f(1) == 2 { Ok(()) } else { Err(f(1)) } }",
    ),
    "javascript, names of both": (
        "javascript",
        "const assert = require('node:assert');\nfunction g() { return 1 }\nlet f = (x) => x + g();",
        "const assert = require('assert');\nfunction g() {}\nfor (const i of [1, 2]) assert.equal(f(i), i + 1);",
    ),
    "javascript, a module": (
        "javascript",
        "import assert from 'assert';\nexport const f = (x) => x + 1",
        "import assert from \"node:assert\"\nrequire('fs');\nfor (const i of [1, 2]) assert.equal(f(i), i + 1);",
    ),
    "javascript, variables of both": (
        "javascript",
        "var f = (x) => x + 1",
        "var f = f || require('./f');\nfor (const i of [1, 2]) console.assert(f(i) === i + 1);",
    ),
    "cpp, assertions that the answer switched off": (
        "cpp",
        "#define NDEBUG\n#include <bits/stdc++.h>\nint f(int x) { return x + 1; }",
        "#include <cassert>\nint main() { for (int i = 0; i < 2; i++) assert(f(i) == i + 1); }",
    ),
    "c, two mains": (
        "c",
        "int f(int x) { return x + 1; }\nint main(void) { return f(0); }",
        "#include <assert.h>\nint main(void) { for (int i = 0; i < 2; i++) assert(f(i) == i + 1); }",
    ),
    "go, helpers of both": (
        "go",
        "package main\ntype pair struct{ a int }\nfunc one() int { return 1 }\nfunc TestF() {}\n"
        "func f(x int) int { return x + pair{one()}.a }",
        "type pair struct{ b int }\nfunc one(a int) int { return 2 }\n"
        "func TestF(t *testing.T) { for i := 0; i < 2; i++ { if f(i) != i+(pair{1}).b*one(0)/2 { t.Fatal(i) } } }",
    ),
    "go, two mains": (
        "go",
        "package main\nfunc f(x int) int { return x + 1 }\nfunc main() {}",
        'func main() { s := `\nimport "a.b/c"`; for i := range s[:2] { if f(i) != i + 1 { panic(i) } } }',
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_a_test_program_joins_usual_answers_and_refuses_wrong_ones(grader: Grader, name: str) -> None:
    language, code, program = JOINED[name]
    right = _graded(grader, language, code, AssertTest(code=program))
    wrong = _graded(grader, language, code.replace("x + ", "x - "), AssertTest(code=program))
    assert (right.verdict, wrong.reward) == ("AC", 0), (right.message, right.failure_reason, wrong)
    assert wrong.verdict in ("WA", "RTE")


def test_an_unfinished_source_is_closed_by_its_test_program(grader: Grader) -> None:
    test = AssertTest(code="}\nint main() {\n    auto candidate = twice;\n    assert(candidate((3)) == (6));\n}\n")
    grade = _graded(grader, "cpp", "#include <bits/stdc++.h>\nlong twice(long x) {\n  return 2 * x;\n", test)
    assert (grade.verdict, grade.forgeable) == ("AC", False), grade.message
