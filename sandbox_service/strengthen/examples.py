"""Reads the inputs of a statement's examples: they are valid, and often show what the given inputs do not.

An example is the text between a heading about an input and the next one about an output, behind a heading about
examples. A text that describes the input, or that leaves something out, is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sandbox_service.strengthen.form import Form, lines_in, trimmed
from sandbox_service.strengthen.inference import form_of

MOST_EXAMPLES = 6
MOST_BYTES = 10_000  # of an example
LEAST_INPUTS, LEAST_SHARE = 3, 0.75  # have the form of the examples, where some given inputs do not have it

_EXAMPLES = re.compile(r"^\W*(?:samples?|examples?)\W*(?:tests?|cases?)?\W*\d*\W*$", re.IGNORECASE)
_MARKER = re.compile(
    r"^\W*(?P<own>(?:samples?|examples?)\W+)?(?P<side>in|out)puts?\W*(?P<behind>samples?|examples?)?\W*\d*\W*$",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^\s*(?:```\w*|</?pre>)\s*$")
_PROSE = re.compile(r"\b(?:contains?|consists?|integers?|guaranteed|denot\w+|lines?)\b|\.\.\.|…", re.IGNORECASE)


def examples_in(statement: str) -> list[str]:
    """Return the inputs of the examples in a statement, each once, in its order.

    Args:
        statement: Text of the problem.
    """
    found = {trimmed(each): None for each in _blocks(statement) if len(each) <= MOST_BYTES and not _PROSE.search(each)}
    return [f"{each}\n" for each in found if each.strip()][:MOST_EXAMPLES]


def _blocks(statement: str) -> Iterator[str]:
    """Yield the text between each heading about an input and the one about its output."""
    are_examples = False
    block: list[str] | None = None
    for line in statement.splitlines():
        marker = _MARKER.match(line)
        if marker is None:
            are_examples = are_examples or _EXAMPLES.match(line) is not None
            if block is not None and not _FENCE.match(line):
                block.append(line)
        elif not (are_examples or marker["own"] or marker["behind"]):
            block = None
        elif marker["side"].lower() == "in":
            block = []
        elif block is not None:
            yield "\n".join(block).strip("\n")
            block = None


def learnt(
    given: Sequence[str], examples: Sequence[str], explains: Callable[[Form, Sequence[str]], bool]
) -> tuple[Form | None, list[str]]:
    """Return the form of a problem's inputs, and the inputs that have it; all of them if there is no form.

    Given inputs may break the statement. The form of the examples wins where it is that of most inputs, and either no
    form is that of all, or that one is longer and does not show what the statement says. The examples are left out
    where they have no form together with the given inputs.

    Args:
        given: The inputs of the given tests.
        examples: Those of the statement's examples.
        explains: Whether the facts of inputs of a form show all that the statement guarantees.
    """
    every = list({trimmed(each): each for each in [*given, *examples]}.values())
    form = form_of(every, has_free=False)
    if form is not None and (not examples or explains(form, every)):
        return form, every
    of_examples = form_of(examples, has_free=False) if examples else None
    if of_examples is not None and of_examples != form:
        fitting = [each for each in every if of_examples.fits(each)]
        is_of_most = len(fitting) >= LEAST_INPUTS and len(fitting) >= LEAST_SHARE * len(every)
        if is_of_most and (form is None or (_size(of_examples) < _size(form) and explains(of_examples, fitting))):
            return of_examples, fitting
    if form is not None:
        return form, every
    for inputs, has_free in ((given, False), (every, True), (given, True)):
        if (form := form_of(inputs, has_free=has_free)) is not None:
            return form, list(inputs)
    return None, every


def _size(form: Form) -> int:
    return len(list(lines_in(form.items)))
