"""Parses the text of a mathematical answer: words, or mathematics as a tree, perhaps with a percent sign or a unit.

The text is normalised to the form that latex2sympy's grammar accepts, with as little guessing as possible; ambiguous
text is refused (`1 000` is not a product). The grammar is a real parser, and no text is ever evaluated as Python. Even
so, untrusted text is parsed in a box of its own, and only the resulting tree is used.
"""

import re
from typing import Any

import answer_lists
import answer_words
import latex_spelling
import sympy
import trees
import units
from latex_grammar import UnreadableError, parse

Answer = dict[str, Any]  # `text`; or `tree`, `percent`, `unit`, `listed` and `letters`, and perhaps `choice`

MOST_CHARACTERS = 1000


def read(text: str) -> Answer:
    """Parse an answer.

    Args:
        text: the candidate's or the expected answer.

    Returns:
        The answer: `text` for words; otherwise `tree`, `percent`, `unit`, `listed` and `letters`, and `choice` if the
        letter of a choice is before them.

    Raises:
        UnreadableError: the text is not an answer.
        ImportError: a part of a library is missing; says nothing about the text.
        MemoryError: parsing needed too much memory; says nothing about the text.
    """
    if len(text) > MOST_CHARACTERS:
        raise UnreadableError(f"it has {len(text)} characters, the limit is {MOST_CHARACTERS}")
    text, money = units.money(text)
    text = latex_spelling.with_usual_brackets(latex_spelling.cleaned(text))
    if not text:
        raise UnreadableError("it is empty")
    words = (
        answer_words.words(latex_spelling.as_list(text))
        or answer_words.numeral(text)
        or answer_words.time(text)
        or units.compound(text)
    )
    if words:
        return {"text": words}
    if chosen := answer_words.chosen(text):
        letter, rest = chosen
        if "tree" in (value := read(rest)):
            return value | {"choice": letter}
    if only := answer_words.ONE_TEXT.fullmatch(text):
        text = only[1].strip()
    text, percent = _without_percent(text)
    text, modulus = _without_modulus(text)
    text, unit = units.split(units.scaled(text))
    text = answer_lists.with_colons(latex_spelling.unwrapped(_without_estimate(text)))
    return {
        "tree": answer_lists.joined(text)
        or answer_lists.alternatives(text)
        or answer_lists.bracketed(text)
        or answer_lists.ratio(text)
        or parse(text),
        "percent": percent,
        "unit": modulus or unit or money,
        "listed": latex_spelling.is_list(text),
        "letters": answer_words.letters(text),
    }


# --- estimates: an answer may add its rounded value, but not give two values

ESTIMATE = re.compile(r"\\(?:approx|simeq|cong|doteq)(?![a-zA-Z])")
NAME = re.compile(r"\s*[A-Za-z](?:_\{?\w+\}?)?(?:\(\w+\))?\s*")
DECIMAL = re.compile(r"\s*-?\d+(?:\.(\d+))?\s*")


def _without_estimate(text: str) -> str:
    r"""Return the exact value before an approximation sign, if the decimal number after it is the rounded value.

    `x \approx 5` is `5`.

    Raises:
        UnreadableError: the number is not decimal, or not the rounded value.
    """
    parts = ESTIMATE.split(text)
    if len(parts) > 1 and NAME.fullmatch(parts[0]):
        parts = parts[1:]
    if len(parts) == 1:
        return parts[0]
    exact, rounded = latex_spelling.unwrapped(parts[0]), DECIMAL.fullmatch(parts[1])
    if len(parts) > 2 or rounded is None:
        raise UnreadableError("the value after an approximation sign is not a decimal number")
    value = trees.decode(parse(exact.rpartition("=")[2]))
    places = len(rounded[1] or "")
    apart = value.evalf(places + 20) - sympy.Rational(rounded[0].strip())
    # with two or more decimal places, a truncated value is accepted too
    unit = sympy.Rational(1 if places > 1 else sympy.Rational(1, 2), 10**places)
    if not apart.is_number or not apart.is_real or abs(apart) > unit:
        raise UnreadableError("the values around an approximation sign differ")
    return exact


# --- percentages

PERCENT = re.compile(r"(.*\S)\s*(?:\\?%|\\text\s*\{\s*(?:\\?%|per ?cent)\s*\}|per ?cent)", re.IGNORECASE)


def _without_percent(text: str) -> tuple[str, bool]:
    found = PERCENT.fullmatch(text)
    if found is None:
        return text, False
    if "%" in found[1]:
        raise UnreadableError("it has two percent signs")
    return found[1].removesuffix("\\"), True


# --- residues: a modulus is compared like a unit

MODULUS = re.compile(
    r"(.*[^\s(])\s*\(?\s*(?:\\[pb]?mod(?![a-zA-Z])|\\text\s*\{\s*\(?mod\s*\}|(?<![A-Za-z\\])mod(?![A-Za-z]))"
    r"\s*\{?\s*(\d{1,20})\s*\}?\s*\)?"
)
RESIDUE = re.compile(r"(?:[a-z]\s*(?:=|\\equiv(?![a-zA-Z]))\s*)?(\d{1,20})")


def _without_modulus(text: str) -> tuple[str, units.Unit | None]:
    """Return a least residue without its modulus, and the modulus as a unit; other text as it is."""
    found = MODULUS.fullmatch(text)
    residue = RESIDUE.fullmatch(found[1]) if found else None
    if found is None or residue is None or int(residue[1]) >= int(found[2]):
        return text, None
    return found[1].replace("\\equiv", "="), [f"mod {int(found[2])}", "1"]
