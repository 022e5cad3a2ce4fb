"""Checks that the prompt alone says enough to solve the problem, without running anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest
from sandbox_service.validation.checks.tests import is_of_functions
from sandbox_service.validation.duplicates import statement_of, text_of
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe, Thresholds

ENOUGH = 3  # times least_letters: in a prompt this long, a picture only illustrates
_IMAGE = re.compile(r"!\[[^\]]*\]\(|<(?:img|image|figure|svg)\b|\\includegraphics|\[image(?:\]|:)", re.IGNORECASE)
_WHOLE_IMAGE = re.compile(r"^(?:!\[[^\]]*\]\([^)]*\)|<[^>]*>|\[image[^\]]*\]|\\includegraphics\S*)", re.IGNORECASE)
# headings of examples, which follow the statement
_EXAMPLES = re.compile(
    r"^\W*(?:notes?|explanations?|(?:sample |public )?(?:examples?|tests?)|samples?)\b.{0,20}$", re.I | re.M
)
_INTERACTIVE = re.compile(
    r"\binteractive (?:problem|task)\b|\b(?:problem|task) is interactive\b"
    r"|\binteract(?:ing)? with the (?:judge|jury|grader|interactor)\b"
    r"|\bflush(?:ing)? (?:the |your )?(?:standard )?(?:output|stdout|buffer)\b|\bfflush\b|\bflush\(|\bcout\.flush\b",
    re.IGNORECASE,
)
# a problem that says it is not interactive: "this is not an interactive problem", "in the non-interactive version"
_NOT_INTERACTIVE = re.compile(r"\b(?:not|isn't|non)[- ]+(?:an? )?interactive\b", re.IGNORECASE)


def interaction(text: str) -> re.Match[str] | None:
    """Return the first words of a statement by which its problem seems to be interactive.

    Args:
        text: the statement.
    """
    return _INTERACTIVE.search(text)


def is_text(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield findings for pictures, which a text model does not see.

    A picture within a sentence replaces a formula or a number. A picture on its own line, or after the examples have
    begun, only illustrates the text, if there is enough text.
    """
    text = _prose(text_of(problem))
    examples = _EXAMPLES.search(text)
    statement, shown = (text[: examples.start()], text[examples.start() :]) if examples else (text, "")
    found = [*_IMAGE.finditer(statement)]
    inline = next((each for each in found if _is_in_a_sentence(statement, each)), None)
    if inline is not None:
        yield Finding("image", f"a picture in a sentence: {_around(statement, inline)!r}")
    elif found and sum(sign.isalnum() for sign in text) < ENOUGH * recipe.thresholds.least_letters:
        yield Finding("image", "there is hardly anything but a picture")
    elif found:
        yield Finding("picture", f"a picture by itself: {_around(statement, found[0])!r}")
    elif (beside := _IMAGE.search(shown)) is not None:
        yield Finding("illustration", f"a picture among examples and notes: {_around(shown, beside)!r}")


def asks_something(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding if the prompt has too few letters: it asks nothing, or its text was lost."""
    count = sum(sign.isalnum() for sign in statement_of(problem))
    least = _least_letters(problem, recipe.thresholds)
    if count < least:
        yield Finding("too_short", f"{count} letters and digits in the prompt, at least {least} are wanted")


def _least_letters(problem: Problem, thresholds: Thresholds) -> int:
    """Any text is enough for mathematics, where `1 + 1` is a question."""
    if problem.language == "text":
        return 1
    is_short = is_of_functions(problem.tests or ())
    return thresholds.least_function_letters if is_short else thresholds.least_letters


def needs_no_conversation(problem: Problem, _: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding for interactive problems without an interactor: a test gives its whole input at once."""
    if problem.interactor is not None:
        return
    text = text_of(problem)
    found = interaction(text)
    if found is not None and not _NOT_INTERACTIVE.search(text):
        yield Finding("interactive", f"the prompt says {_around(text, found)!r}")


def starter_is_called(problem: Problem, _: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if the tests call none of the starter code's names: completing the starter would not pass."""
    defined = _names_in(problem.starter)
    called = {name for each in problem.tests or () for name in _called(each)} if defined else set()
    if called and not called & defined:
        yield Finding(
            "starter_not_called", f"the starter code defines {_listed(defined)}, the tests call {_listed(called)}"
        )


def _is_in_a_sentence(text: str, found: re.Match[str]) -> bool:
    """Return True if words precede the picture on its line, or follow as within a sentence; a caption begins anew."""
    start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    before, picture, behind = text[start : end if end >= 0 else len(text)].partition(text[found.start() : found.end()])
    behind = _WHOLE_IMAGE.sub("", picture + behind, count=1).lstrip()
    return any(sign.isalnum() for sign in before) or behind[:1].islower() or behind[:1] in (",", ".", ";", ")")


def _prose(text: str) -> str:
    """The text without code, in which the same characters have another meaning."""
    return re.sub(r"```.*?```|`[^`\n]*`", " ", text, flags=re.DOTALL)


def _around(text: str, found: re.Match[str]) -> str:
    start, end = max(found.start() - 20, 0), min(found.end() + 20, len(text))
    return " ".join(text[start:end].split())


def _names_in(starter: str) -> set[str]:
    """The functions, methods and classes of a starter, which may be cut off in the middle."""
    return set(re.findall(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", starter, re.MULTILINE))


def _called(test: object) -> set[str]:
    if isinstance(test, CallTest):
        return set(test.function.split("."))
    if isinstance(test, AssertTest):
        whole = f"{test.code}\n{test.entry_point or ''}"
        try:
            return {node.id for node in ast.walk(ast.parse(whole)) if isinstance(node, ast.Name)} | {
                node.attr for node in ast.walk(ast.parse(whole)) if isinstance(node, ast.Attribute)
            }
        except (SyntaxError, ValueError, RecursionError):
            return set()
    return set()


def _listed(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:5]) + (" …" if len(shown) > 5 else "")
