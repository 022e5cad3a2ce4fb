"""Parts that readers of problem packages share: rows of packages, names of settings, tests that may have a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.schema import InteractiveTest, StdinTest
from sandbox_service.validation.sources import archives
from sandbox_service.validation.sources.rows import Found, Malformed, Row


def rows_of(
    places: Sequence[Path], kind: str, read: Callable[[Path], Row], broken: tuple[type[Exception], ...] = ()
) -> Iterator[Found | Malformed]:
    """Yield a row for each package; Malformed for one that cannot be read.

    Args:
        places: The packages.
        kind: What they should be, such as `a CMS task`; used in the message.
        read: Returns the row of a package.
        broken: What it raises for a package that is none, besides ValueError, KeyError, TypeError, `archives.BROKEN`.
    """
    unreadable: tuple[type[Exception], ...] = (ValueError, KeyError, TypeError, *archives.BROKEN, *broken)
    for place in places:
        try:
            row = read(place)
        except unreadable as trouble:
            yield Malformed(str(place), f"not {kind}: {trouble}", place.name)
        else:
            yield Found(place.parent.name, place.name, str(place), row)


def check_names(sheet: str, given: Iterable[str], known: frozenset[str], whose: str) -> None:
    """Refuse settings that are not known here: they may decide verdicts.

    Args:
        sheet: The name of the file that has it.
        given: The names of the settings.
        known: The names that are known.
        whose: What they are settings of.

    Raises:
        ValueError: There is such a setting.
    """
    for name in given:
        if name not in known:
            raise ValueError(f"{sheet} has {name!r} for {whose}, which is not known here")


def test_of(test: Row, more: dict[str, Any], *, is_interactive: bool, is_judged: bool) -> StdinTest | InteractiveTest:
    """Return a test of a package.

    Args:
        test: Its `input` and `output`.
        more: Further fields.
        is_interactive: An interactor talks to the program.
        is_judged: A checker program reads the output; otherwise the output is compared.
    """
    if is_interactive:
        return InteractiveTest(input=test["input"], output=test["output"], **more)
    if is_judged:
        return StdinTest(input=test["input"], output=test["output"], **more)
    return cases.stdin(test["input"], test["output"]).model_copy(update=more)
