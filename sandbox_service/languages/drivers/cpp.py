"""The driver of C++: behind the submission, in one file, since that is compiled once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import SOLUTION, Function, Functions

TEMPLATE = Path(__file__).with_name("driver.cpp")

# LeetCode's own definitions, on one line: the submission's line numbers stay
_GIVEN = {
    "ListNode": "struct ListNode { int val; ListNode *next;"
    " ListNode(int x = 0, ListNode *n = nullptr) : val(x), next(n) {} };",
    "TreeNode": "struct TreeNode { int val; TreeNode *left, *right;"
    " TreeNode(int x = 0, TreeNode *l = nullptr, TreeNode *r = nullptr) : val(x), left(l), right(r) {} };",
}
_EVERYTHING = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<bits/stdc\+\+\.h>", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?!__)(\w+)", re.MULTILINE)
_CHOSEN = """
namespace proctor_driver {{
template <class R> auto own_{name}(R (*function)({parameters})) {{ return function; }}
}}
"""
_CALL = """    if (name == "%s" && count == %d%s) {
        std::vector<Argument<%s>> args(count);
        out += result([%s](auto& a) -> decltype(auto) { (void)a; return %s(%s); }, args, %s);
        %s;
    }
"""

_PARAMETER = re.compile(r"(?P<type>.*[\w>&*])\s*(?<=[\s>&*])(?P<name>[A-Za-z_]\w*)", re.DOTALL)
_NO_NAME = frozenset("auto bool char double float int long short signed unsigned const".split())
_TOLD = re.compile(r"&&|\boptional\s*<")
"""Parameters of which the driver is told the type: the compiler would not ask an argument for it."""

_LIBRARY = frozenset(
    "abort abs access acos alarm asctime asin atan atof atoi atol atoll atexit basename bsearch calloc cbrt ceil "
    "clock close connect cos cosh ctime difftime div drand48 dup erf exit exp exp2 expm1 fabs ffs floor fma fmax "
    "fmin fmod fork free frexp gamma getenv gets getline gmtime hypot index initstate isalnum isalpha isascii "
    "isatty isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit j0 j1 jn kill labs "
    "ldexp ldiv lgamma link llabs lldiv localtime log log10 log1p log2 logb lrand48 lrint lround malloc mblen "
    "memchr memcmp memcpy memmem memmove memset mktime modf nan nearbyint nice pause perror pipe pow printf "
    "putchar puts qsort raise rand random read realloc remainder remove rename rewind rindex rint round scalb "
    "scanf select signal significand sin sinh sleep sqrt srand stpcpy strcat strcasecmp strchr strcmp strcoll "
    "strcpy strcspn strdup strerror strlen strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strspn "
    "strstr strtod strtof strtok strtol strtoll strxfrm swab sync system tan tanh tgamma time times toascii "
    "tolower toupper trunc truncate ungetc unlink wait write y0 y1 yn".split()
)
"""Functions of the C library that a submission may overload, so that the name alone does not say which is meant."""


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return the submission with its driver.

    Args:
        source: the submission.
        code: the same, masked.
        functions: what is called.
    """
    driver = TEMPLATE.read_text()
    source = _EVERYTHING.sub("", source)  # it is there already, and must be first to be used precompiled
    parts = [_before(code, functions), '#line 1 "main.cpp"\n', source, "\n#undef main\n", *_undefined(code, functions)]
    parts.append('#line 1 "driver.cpp"\n')
    return "".join([*parts, driver, *_overloads(code, functions), _calls(functions, code)]), {}


def _undefined(code: str, functions: Functions) -> list[str]:
    """Return lines that undefine the submission's macros, but for those that may be the called name."""
    called = {word for each in functions.plain for word in (each.owner, each.name)}
    for owner, methods in functions.methods:
        called |= {owner, *(method.name for method in methods)}
    return [f"#undef {name}\n" for name in sorted({*_DEFINE.findall(code)} - called)]


def _overloads(code: str, functions: Functions) -> Iterator[str]:
    """Yield the parameters that tell a function of the submission from the C library's of the same name."""
    for function in functions.plain:
        if parameters := _overloaded(code, function):
            yield _CHOSEN.format(name=f"{function.name}_{function.count}", parameters=parameters[0])


def _overloaded(code: str, function: Function) -> list[str]:
    """Return the parameters with which the submission declares a function, if the C library may have its name too."""
    if function.owner or function.name not in _LIBRARY:
        return []
    found = scan.parameters(code, "cpp", function.name)
    return [each for each in found if "=" not in each and each.count(",") >= function.count - 1][:1]


def _before(code: str, functions: Functions) -> str:
    """Return the headers and definitions that LeetCode gives a program without includes."""
    lines = ["#include <bits/stdc++.h>\n"]
    named = any(function.owner == SOLUTION for function in functions.plain) or functions.methods
    if named or "#include" not in code.replace(" ", ""):
        lines.append("using namespace std;\n")
    for name, text in _GIVEN.items():
        if re.search(rf"\b{name}\b", code) and not scan.has_class(code, name):
            lines.append(text + "\n")
    if re.search(r"\bmain\s*\(", code):
        lines.append("#define main submission_main\n")
    return "".join(lines)


def _calls(functions: Functions, code: str) -> str:
    plain = "".join(_plain(function, code) for function in functions.plain)
    classes = "".join(_class(name, methods, code) for name, methods in functions.methods)
    return (
        "\nnamespace proctor_driver {\n"
        f"void make_call(const std::string& name, std::size_t count, std::string& out) {{\n{plain}"
        "    absent(name, count);\n}\n"
        f"void make_object(const std::string& type, std::size_t left, std::string& out) {{\n{classes}"
        "    stop('?', \"there is no \" + type);\n}\n"
        "}  // namespace proctor_driver\n"
        "int main() { return proctor_driver::main(); }\n"
    )


def _plain(function: Function, code: str) -> str:
    made = f"(new ::{function.owner}())->{function.name}" if function.owner else f"::{function.name}"
    if _overloaded(code, function):
        made = f"own_{function.name}_{function.count}({made})"
    return "".join(
        _CALL % (function.full_name, function.count, fits, "void", "", made, given, "in_place", "return")
        for fits, given in _ways(function, code)
    )


def _class(name: str, methods: tuple[Function, ...], code: str) -> str:
    makers = [method for method in methods if method.name == name]
    others = [method for method in methods if method.name != name]
    made = "".join(
        f"        if (count == {maker.count}) {{ std::vector<Argument<::{name}>> a(count); (void)a;"
        f" self = new ::{name}({_arguments(maker)}); }}\n"
        for maker in makers
    )
    called = "".join(
        _CALL % (each.name, each.count, fits, f"::{name}", "self", f"self->{each.name}", given, "false", "continue")
        for each in others
        for fits, given in _ways(each, code)
    )
    return (
        f'    if (type == "{name}") {{\n        ::{name}* self = nullptr;\n'
        f"        {{ auto [name, count] = named();\n{made}        if (!self) absent(name, count); }}\n"
        '        out += "[null";\n        while (--left > 0) {\n            auto [name, count] = named();\n'
        f"            out += ',';\n{called}            absent(name, count);\n        }}\n"
        "        out += ']';\n        return;\n    }\n"
    )


def _ways(function: Function, code: str) -> list[tuple[str, str]]:
    """Return the ways to call a function: a condition on the kinds of the arguments, and how they are given.

    Usually there is one without a condition, since the compiler asks each argument for the type that it needs.
    Functions of one name with the same number of parameters are told apart by their types as they are written.
    """
    found = [_types(each) for each in scan.parameters(code, "cpp", function.name, function.owner)]
    declared = list(dict.fromkeys(tuple(each) for each in found if each is not None and len(each) == function.count))
    if None in found or not declared or not function.count:
        return [("", _arguments(function))]
    if len(declared) == 1:
        told = [f"as<{each}>(a[{at}])" if _TOLD.search(each) else f"a[{at}]" for at, each in enumerate(declared[0])]
        return [("", ", ".join(told))]
    return [
        (f" && fit<{', '.join(types)}>()", ", ".join(f"as<{each}>(a[{at}])" for at, each in enumerate(types)))
        for types in declared
    ]


def _types(parameters: str) -> list[str] | None:
    """Return the types in a list of parameters, or None if they are not understood."""
    types, depth, start = [], 0, 0
    for at, character in enumerate(parameters + ","):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            types.append(parameters[start:at].partition("=")[0].strip())
            start = at + 1
    if types == [""]:
        return []
    if any(not each or "[" in each or "(" in each or re.search(r"\bauto\b", each) for each in types):
        return None
    found = [_PARAMETER.fullmatch(each) for each in types]
    return [
        each["type"] if each and each["name"] not in _NO_NAME else text for each, text in zip(found, types, strict=True)
    ]


def _arguments(function: Function) -> str:
    return ", ".join(f"a[{index}]" for index in range(function.count))
