"""Test programs in the styles of the data sets that have them, as calls with expected values."""

from __future__ import annotations

from math import nextafter
from typing import Any

import pytest

from sandbox_service.languages.assertions.conditions import Check
from sandbox_service.languages.assertions.programs import checks
from sandbox_service.languages.assertions.script_equality import UNDEFINED
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.drivers.values import Asks, Call

LESS = nextafter(1e-3, 0)


def _check(name: str, args: list[Any], expected: Any, of: int = 0, **options: Any) -> Check:
    asks: Asks = "json" if options.get("equality") == "json" else "value"
    return Check(Call(name, args, asks=asks, object=of), expected, **options)


CPP = """
#undef NDEBUG
#include<assert.h>
bool issame(vector<float> a, vector<float> b) {
    if (a.size()!=b.size()) return false;
    for (int i=0;i<a.size();i++) {
        if (abs(a[i]-b[i])>1e-4) return false;
    }
    return true;
}
int main() {
    vector<float> values = {1.0, -2.5};
    assert (near(values, 0.3)==true);
    assert (not (near({}, 0.3)));
    assert (text("a\\n\\"b") == "x" "y");
    assert (issame(scaled({1, 2}, 1.5f), {1.5, 3.0}));
    assert (abs(root(2) - 1.4142) < 1e-3);
    assert (f(vector<vector<int>>{{1}, {}}, 'c') != -1);
}
"""
MULTIPL_CPP = """}
int main() {
    auto candidate = pluck;
    assert(candidate((std::vector<long>({(long)4, (long)2})), (0.5f)) == (std::vector<long>({(long)2, (long)1})));
    assert(kept((std::map<std::string,std::string>({{"p", "q"}})), ("")) == (std::vector<long>()));
}
"""
JAVA = """public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(
                s.near(new ArrayList<>(Arrays.asList(11.0, 2.0)), 0.3),
                !s.near(new ArrayList<>(List.of()), 0.05),
                s.words("a b").equals(Arrays.asList("a", "b")),
                Math.abs(s.root(2) - 1.4142) < 1e-3,
                Objects.equals(s.none(new int[]{1, 2}), null)
        );
        if (correct.contains(false)) {
            throw new AssertionError();
        }
    }
}
"""
MULTIPL_JAVA = """    }
    public static void main(String[] args) {
    assert(near((new ArrayList<Float>(Arrays.asList((float)1.0f, (float)2.0f))), (0.3f)) == (false));
    assert(words(("a")).equals((new ArrayList<String>(Arrays.asList((String)"a")))));
    }

}
"""
JAVASCRIPT = """const testNear = () => {
  console.assert(near([1.0, 2.0], 0.3) === true)
  console.assert(
    JSON.stringify(words('a b')) === JSON.stringify(['a', "b"])
  )
  console.assert(table({ a: 1, 'b': [] }) === undefined)
}

testNear()
"""
MULTIPL_JAVASCRIPT = """const assert = require('node:assert');

function test() {
  let candidate = near;
  assert.deepEqual(candidate([1.0, -2.0], 0.3),true);
  assert.deepEqual(candidate({"a": null}, `b`),[]);
}

test();
"""
TYPESCRIPT = """declare var require: any;
const assert = require('node:assert');


function test() {
  let candidate = near;
  assert.deepEqual(candidate([1.0, 2.0], 0.3),false);
}

test();
"""
GO = """func TestNear(t *testing.T) {
    assert := assert.New(t)
    assert.Equal(true, Near([]float64{1.0, 2.0}, 0.3))
    assert.Equal([]string{"a", "b"}, Words("a b"))
    assert.Equal(map[string]int{"a": 1}, Count([]interface{}{"a", 1}))
    assert.Equal([][]int{{1}, {}}, Rows(nil))
}
"""
MULTIPL_GO = """func TestNear(t *testing.T) {
  candidate := near
\ttype test struct {
\t\tactual   []int
\t\texpected []int
\t}
   tests := []test{
     { actual: candidate([]float64{1.0, 2.0}, 0.3), expected: []int{1} },
     { actual: candidate([]float64{}, -1), expected: []int{} },
   }

\tfor i, tc := range tests {
\t\tt.Run(fmt.Sprintf("test num % d", i), func(t *testing.T) {
\t\t\tif !reflect.DeepEqual(tc.actual, tc.expected) {
\t\t\t\tt.Errorf("expected '%s', got '%s'", tc.expected, tc.actual)
\t\t\t}
\t\t})
\t}
}
"""
RUST = """#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_near() {
        assert_eq!(near(vec![1.0, 2.0], 0.3), true);
        assert!(words("a b".to_string()) == vec!["a", "b"]);
        assert!(!near(vec![0.5; 3], 0.1));
        assert_eq!(first(&vec![String::from("a")]), Some("a".to_string()));
    }
}
"""
MULTIPL_RUST = """}

fn main() {
    let candidate = near;
    assert_eq!(candidate(vec![1.0, 2.0], 0.3), false);
    assert_eq!(parted(HashMap::from([(String::from("a"), 1)]), (1, 2)), vec![vec![], vec![1]]);
    assert_eq!(sought(Vec::<i64>::new(), 1), None);
}
"""
PROGRAMS = {
    "cpp": (
        CPP,
        [
            _check("near", [[1.0, -2.5], 0.3], True),
            _check("near", [[], 0.3], True, is_truth=True, negated=True),
            _check("text", ['a\n"b'], "xy"),
            _check("scaled", [[1, 2], 1.5], [1.5, 3.0], tolerance=1e-4),
            _check("root", [2], 1.4142, tolerance=LESS),
            _check("f", [[[1], []], "c"], -1, negated=True),
        ],
    ),
    "cpp multipl-e": (
        MULTIPL_CPP,
        [_check("pluck", [[4, 2], 0.5], [2, 1]), _check("kept", [{"p": "q"}, ""], [])],
    ),
    "java": (
        JAVA,
        [
            _check("near", [[11.0, 2.0], 0.3], True, is_truth=True, of=1),
            _check("near", [[], 0.05], True, is_truth=True, negated=True, of=1),
            _check("words", ["a b"], ["a", "b"], of=1, is_receiver=True),
            _check("root", [2], 1.4142, tolerance=LESS, of=1),
            _check("none", [[1, 2]], None, of=1),
        ],
    ),
    "java multipl-e": (
        MULTIPL_JAVA,
        [_check("near", [[1.0, 2.0], 0.3], False), _check("words", ["a"], ["a"], is_receiver=True)],
    ),
    "java, methods of literals and of optional values": (
        "class Main { public static void main(String[] a) { assert !List.of(1).equals(f(1));"
        ' assert !g(1).equals(Optional.of(1)); assert !h(1).equals("x"); } }',
        [
            _check("f", [1], [1], negated=True),
            _check("g", [1], 1, negated=True),
            _check("h", [1], "x", negated=True, is_receiver=True),
        ],
    ),
    "javascript": (
        JAVASCRIPT,
        [
            _check("near", [[1.0, 2.0], 0.3], True, equality="==="),
            _check("words", ["a b"], ["a", "b"], equality="json"),
            _check("table", [{"a": 1, "b": []}], UNDEFINED, equality="==="),
        ],
    ),
    "javascript multipl-e": (
        MULTIPL_JAVASCRIPT,
        [
            _check("near", [[1.0, -2.0], 0.3], True, equality="deep"),
            _check("near", [{"a": None}, "b"], [], equality="deep"),
        ],
    ),
    "javascript, strict": (
        "const assert = require('assert').strict; assert.equal(f(1n, {}), 2); assert.deepEqual(f(undefined, []), {});",
        [
            _check("f", [{"__js__": "bigint", "own": "1"}, {}], 2, equality="is"),
            _check("f", [UNDEFINED, []], {}, equality="deep strict"),
        ],
    ),
    "cpp, braces of constructors": (
        "int main() { assert(f(1) == (pair<int, int>{1, 2})); assert(g(std::optional<int>{3}) == optional<int>{}); }",
        [_check("f", [1], [1, 2]), _check("g", [3], None)],
    ),
    "rust, numbers of a type": ("fn main() { assert_eq!(f(1 as f64), 2 as i64); }", [_check("f", [1], 2)]),
    "cpp, vectors in brackets": (
        "int main() { assert(f({2}) == (vector<int>{1, 2})); assert(abs(g(1) - 3) <= 2); assert(!h(true)); }",
        [
            _check("f", [[2]], [1, 2]),
            _check("g", [1], 3.0, tolerance=2.0),
            _check("h", [True], True, is_truth=True, negated=True),
        ],
    ),
    "javascript, objects": (
        "const a = new Counter(); const b = new Counter(); const c = a; assert.equal(a.next(), 1);"
        " assert.equal(b.next(), 1); assert.equal(c.next(), 2); assert.equal(new Counter().next(), 1);"
        " const s = new Solution(); assert.equal(s.f(), 1); assert.equal(Counter.f(), 1);",
        [
            _check("Counter.next", [], 1, of=1, equality="=="),
            _check("Counter.next", [], 1, of=2, equality="=="),
            _check("Counter.next", [], 2, of=1, equality="=="),
            _check("Counter.next", [], 1, equality="=="),
            _check("f", [], 1, of=3, equality="=="),
            _check("Counter.f", [], 1, equality="=="),
        ],
    ),
    "javascript, results of variables": (
        "const x = [1]; const y = [1]; const r = f(x); assert.deepEqual(r, [2]); const n = f(y); assert.equal(n, 2);",
        [_check("f", [[1]], [2], equality="deep"), _check("f", [[1]], 2, equality="==")],
    ),
    "cpp, an argument of two calls": (
        "int main() { vector<int> x = {1}; auto a = f(x); auto b = f(x); assert(a == 2); assert(b == 2); }",
        [_check("f", [[1]], 2), _check("f", [[1]], 2)],
    ),
    "rust, an argument of two calls": (
        "fn main() { let x = vec![1]; assert_eq!(f(&x), 2); assert_eq!(f(&x), 2); assert_eq!(f(&mut vec![1]), 2); }",
        [_check("f", [[1]], 2)] * 3,
    ),
    "cpp, a value that grows later": (
        "int main() { vector<int> e = {1}; vector<int> x = e; int r = g(x); x.push_back(2); assert(r == 3);"
        " assert(f(1) == e); e.push_back(3); assert(f(2) == e); }",
        [_check("g", [[1]], 3), _check("f", [1], [1]), _check("f", [2], [1, 3])],
    ),
    "java, a value that grows later": (
        "class Main { public static void main(String[] a) { List<Integer> e = new ArrayList<>();"
        " List<Integer> same = e; e.add(1); List<Integer> copy = new ArrayList<>(e); assert f(1).equals(e);"
        " same.add(2); assert f(2).equals(e); assert f(3).equals(copy); } }",
        [_check("f", [1], [1]), _check("f", [2], [1, 2]), _check("f", [3], [1])],
    ),
    "java, a truth value as a key": (
        "class Main { public static void main(String[] a) { Map<Boolean, Integer> e = new HashMap<>(); e.put(true, 2);"
        " boolean right = f(1).equals(e); assert right; } }",
        [_check("f", [1], {"true": 2})],
    ),
    "javascript, a value that grows later": (
        "const e = [1]; assert.deepEqual(f(1), e); e.push(2); assert.deepEqual(f(2), e);",
        [_check("f", [1], [1], equality="deep"), _check("f", [2], [1, 2], equality="deep")],
    ),
    "rust, a value that grows later": (
        "fn main() { let mut x = vec![1]; assert_eq!(f(&x), 1); x.push(2); assert_eq!(f(&x), 3); }",
        [_check("f", [[1]], 1), _check("f", [[1, 2]], 3)],
    ),
    "typescript": (TYPESCRIPT, [_check("near", [[1.0, 2.0], 0.3], False, equality="deep")]),
    "go": (
        GO,
        [
            _check("Near", [[1.0, 2.0], 0.3], True),
            _check("Words", ["a b"], ["a", "b"]),
            _check("Count", [["a", 1]], {"a": 1}),
            _check("Rows", [None], [[1], []]),
        ],
    ),
    "go multipl-e, printed": (
        MULTIPL_GO.replace(
            "!reflect.DeepEqual(tc.actual, tc.expected)",
            'fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected)',
        ),
        [_check("near", [[1.0, 2.0], 0.3], [1]), _check("near", [[], -1], [])],
    ),
    "go multipl-e": (MULTIPL_GO, [_check("near", [[1.0, 2.0], 0.3], [1]), _check("near", [[], -1], [])]),
    "rust": (
        RUST,
        [
            _check("near", [[1.0, 2.0], 0.3], True),
            _check("words", ["a b"], ["a", "b"]),
            _check("near", [[0.5, 0.5, 0.5], 0.1], True, is_truth=True, negated=True),
            _check("first", [["a"]], "a"),
        ],
    ),
    "rust multipl-e": (
        MULTIPL_RUST,
        [
            _check("near", [[1.0, 2.0], 0.3], False),
            _check("parted", [{"a": 1}, [1, 2]], [[], [1]]),
            _check("sought", [[], 1], None),
        ],
    ),
}

REFUSED = {
    "a loop": ("cpp", "int main() { for (int i = 0; i < 9; i++) assert(f(i) == i); }"),
    "a parameter of two types": ("cpp", 'int main() { assert(f(1) == 1); assert(f("text") == 1); }'),
    "items of several types": ("rust", 'fn main() { assert_eq!(f(vec![1, 2]), 1); assert_eq!(f(vec!["one"]), 1); }'),
    "two calls": ("cpp", "int main() { assert(decode(encode(1)) == 1); }"),
    "a call on both sides": ("cpp", "int main() { assert(f(1) == f(2)); }"),
    "a helper that is not known": ("cpp", "bool ok(int x) { return x; } int main() { assert(ok(f(1))); }"),
    "a helper that compares nothing": (
        "cpp",
        "bool same(vector<int> a, vector<int> b) { return true; } int main() { assert(same(f(1), {1})); }",
    ),
    "a division of integers": ("cpp", "int main() { assert(f(1) == 1 / 2); }"),
    "an octal number": ("cpp", "int main() { assert(f(1) == 010); }"),
    "a cast of a result": ("cpp", "int main() { assert((int)f(1) == 1); }"),
    "no assertion": ("cpp", "int main() { return 0; }"),
    "output": ("cpp", "int main() { assert(f(1) == 1); cout << 1; }"),
    "an early end": ("cpp", "int main() { return 1; assert(f(1) == 1); }"),
    "an exception": ("java", "class Main { public static void main(String[] a) { throw new AssertionError(); } }"),
    "a size": ("java", "class Main { public static void main(String[] a) { assert(f(1).size() == 1); } }"),
    "a test that is not called": ("javascript", "const testF = () => { console.assert(f(1) === 1) }"),
    "an assertion beside the test": (
        "javascript",
        "assert.equal(g(1), 2); function test() { assert.equal(f(1), 2); } test();",
    ),
    "another function beside the test": (
        "javascript",
        "function also() { assert.equal(g(1), 2); } function test() { assert.equal(f(1), 2); } also(); test();",
    ),
    "a result of another type": ("rust", "fn main() { assert_eq!(f(1) as i32, 1); }"),
    "two results": ("go", "func TestF(t *testing.T) { _, err := f(1); assert.Equal(nil, err) }"),
    "a macro": ("cpp", "#define g f\nint main() { assert(g(1) == 1); }"),
    "a condition of the preprocessor": (
        "cpp",
        "int main() {\n#ifdef X\nassert(g(1) == 1);\n#endif\nassert(f(1) == 1); }",
    ),
    "a reference": ("javascript", "assert.strictEqual(f(1), [1]);"),
    "an argument of two calls": ("javascript", "const x = [1]; assert.equal(f(x), 1); assert.equal(f(x), 1);"),
    "an argument by another name": (
        "javascript",
        "const x = [1]; const y = { a: x }; assert.equal(f(x), 1); assert.equal(f(y), 1);",
    ),
    "an argument in java": (
        "java",
        "class Main { public static void main(String[] a) { int[] x = {1}; assert f(x) == 1; assert f(x) == 1; } }",
    ),
    "an argument that rust lends twice": (
        "rust",
        "fn main() { let mut x = vec![1]; assert_eq!(f(&mut x), 1); assert_eq!(f(&mut x), 1); }",
    ),
    "an argument that is compared": ("javascript", "const x = [1]; assert.deepEqual(f(x), x);"),
    "an argument that is changed": (
        "java",
        "class Main { public static void main(String[] a) { List<Integer> x = new ArrayList<>(); assert f(x) == 0;"
        " x.add(1); assert f(x) == 1; } }",
    ),
    "a result that is compared twice": ("javascript", "const r = f(1); assert.equal(r, 2); assert.equal(r, 2);"),
    "a result that is not compared": ("javascript", "const r = f(1); assert.equal(f(2), 2);"),
    "results in another order": (
        "cpp",
        "int main() { auto a = f(1); auto b = f(2); assert(b == 2); assert(a == 1); }",
    ),
    "a result that a later call may change": (
        "javascript",
        "const a = f(1); const b = f(2); assert.deepEqual(a, [1]); assert.deepEqual(b, [2]);",
    ),
    "an object that is made of values": ("javascript", "const c = new Counter(5); assert.equal(c.next(), 6);"),
    "an object of C++ in two calls": (
        "cpp",
        "int main() { auto s = Solution(); assert(s.f(1) == 1); assert(s.f(1) == 1); }",
    ),
    "a variable that changes before it is read": (
        "cpp",
        "int main() { int x = 1; bool right = f(x) == 1; x = 2; assert(right); }",
    ),
    "a list that changes before it is read": (
        "java",
        "class Main { public static void main(String[] a) { List<Integer> x = new ArrayList<>();"
        " boolean right = f(1).equals(x); List<Integer> same = x; same.add(1); assert right; } }",
    ),
    "a condition that is read behind another call": (
        "java",
        "class Main { public static void main(String[] a) { Solution s = new Solution(); boolean right = s.f() == 1;"
        " assert s.f() == 2; assert right; } }",
    ),
    "a list of conditions that is read behind another call": (
        "java",
        "class Main { public static void main(String[] a) { Solution s = new Solution();"
        " List<Boolean> right = Arrays.asList(s.f() == 1); assert s.f() == 2;"
        " if (right.contains(false)) throw new AssertionError(); } }",
    ),
    "a condition that is not used": ("javascript", "const right = f(1) === 1; assert.equal(f(2), 2);"),
    "a condition that is replaced": (
        "cpp",
        "int main() { bool right = f(1) == 1; right = f(2) == 2; assert(right); }",
    ),
    "a change in an expression": ("javascript", "const e = [1]; const n = e.push(2); assert.deepEqual(f(1), e);"),
    "a change of a property": ("javascript", "const e = { a: 1 }; e.a = 2; assert.deepEqual(f(1), e);"),
    "an item before the others": (
        "java",
        "class Main { public static void main(String[] a) { LinkedList<Integer> e = new LinkedList<>(); e.push(1);"
        " e.push(2); assert f(1).equals(e); } }",
    ),
    "a key that is a number with a point": (
        "java",
        "class Main { public static void main(String[] a) { Map<Double, Integer> e = new HashMap<>(); e.put(1.0, 2);"
        " assert f(1).equals(e); } }",
    ),
    "a reference to a variable in C++": (
        "cpp",
        "int main() { vector<int> x = {1}; auto& same = x; same.push_back(2); assert(f(x) == 1); }",
    ),
    "a reference to a variable in rust": (
        "rust",
        "fn main() { let mut x = vec![1]; let same = &mut x; same.push(2); assert_eq!(f(&x), 1); }",
    ),
    "a list in itself": (
        "java",
        "class Main { public static void main(String[] a) { List x = new ArrayList(); x.add(x); assert f(x) == 1; } }",
    ),
    "a value that doubles": (
        "cpp",
        "int main() { auto x = {1}; " + "x = {x, x}; " * 40 + "assert(f(x) == 1); }",
    ),
    "a text that doubles": ("javascript", "let x = '1'; " + "x = x + x; " * 40 + "assert.equal(f(x), 1);"),
    "a number that doubles": (
        "go",
        "func TestF(t *testing.T) { x := 2; " + "x = x * x; " * 40 + "assert.Equal(x, f(1)) }",
    ),
    "a value that is too deep": ("cpp", "int main() { auto x = {1}; " + "x = {x}; " * 2000 + "assert(f(x) == 1); }"),
    "an object of C++ with a name like a class": ("cpp", "int main() { Solution S; assert(S.f(1) == 1); }"),
    "a field of Java with a name like a class": (
        "java",
        "class Main { static Solution S = new Solution();"
        " public static void main(String[] a) { assert S.f(1) == 1; } }",
    ),
    "a method of a value": (
        "java",
        'class Main { public static void main(String[] a) { String S = ""; assert S.size() == 0; assert f(1) == 1; } }',
    ),
    "a method of the test program": (
        "cpp",
        "struct Own { int f(int x) { return x; } }; int main() { assert(Own().f(1) == 1); assert(g(1) == 1); }",
    ),
    "a method in rust": ("rust", "fn main() { assert_eq!(Solution::new().f(1), 1); }"),
    "a loop of Go": ("go", "func TestF(t *testing.T) { for i := range x { if f(i) != i { t.Error() } } }"),
    "a result that is used": ("rust", "fn main() { assert_eq!(f(1).len(), 1); }"),
    "deep brackets": ("cpp", "int main() { assert(f(" + "{" * 500 + "}" * 500 + ") == 1); }"),
    "an open bracket": ("cpp", "int main() { assert(f((((("),
    "no program": ("cpp", "\x00"),
    "another language": ("lua", "assert(f(1) == 1)"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_test_program_of_plain_calls_is_translated(name: str) -> None:
    code, expected = PROGRAMS[name]
    assert checks(code, name.split()[0].rstrip(",")) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_any_other_test_program_is_refused(name: str) -> None:
    language, code = REFUSED[name]
    with pytest.raises(NotPlainError):
        checks(code, language)
