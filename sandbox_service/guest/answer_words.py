"""Answers that are words, letters, numerals to a base, or times of day: compared as text, not as mathematics."""

import re

WORD = re.compile(r"[A-Za-z][A-Za-z' -]*")
LETTERS = 4  # at least this many letters in a row are a word, not a product
SHORT_WORDS = frozenset("yes no true odd even all none not red blue sat sun mon tue wed thu fri am pm".split())
MATHEMATICAL = frozenset("infinity infty inf alpha beta gamma delta theta lambda sigma omega".split())
ONE_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
# points in order: the angle ABC differs from the angle CAB, and neither is a product
POINTS = re.compile(
    r"(?:\\(?:angle|measuredangle|triangle|square)\s*)?\(?([A-Z]'*(?:\s*[A-Z]'*)+)\)?"
    r"|\\(?:angle|triangle)\s*\{\s*([A-Z]'*(?:\s*[A-Z]'*)*)\s*\}"
    r"|\\overline\s*\{\s*([A-Z]'*(?:\s*[A-Z]'*)+)\s*\}"
    r"|\\angle\s*([A-Z]'*)"
)
PRODUCT = re.compile(r"[A-Za-z](?:\s*(?:\\cdot|\\times|\*)?\s*[A-Za-z])+")
CHOICE = re.compile(r"(?:(?:[Oo]ption|[Cc]hoice)\s+)?[(\[]?\s*([A-Z])\s*[)\]]?")
# one choice and its value: `\textbf{(B)}\ 7`, `\textbf{(B) 7}`
CHOSEN = re.compile(
    r"(?:\\text\s*\{\s*\((?P<bold>[A-E])\)\s*\}|\((?P<plain>[A-E])\) )\s*(?!.*\([A-E]\))"
    r"(?P<value>(?:[-+\\\d(\[]|[a-z](?![a-z])).*)"
    r"|\\text\s*\{\s*\((?P<inner>[A-E])\)\s*(?P<number>[-+\d][^{}()]*)\}"
)


def chosen(text: str) -> tuple[str, str] | None:
    """Return the letter of a choice and the text of its value; None if the text has no such form."""
    found = CHOSEN.fullmatch(text)
    if found is None:
        return None
    return (found["bold"] or found["plain"] or found["inner"]).lower(), found["value"] or found["number"]


CLOCK = re.compile(r"[1-9]\d?\s*:\s*[0-5]\d")


def words(text: str) -> str | None:
    """Return a text of words, or the letter of a choice, in one spelling; None if the text is mathematics."""
    inner = ONE_TEXT.fullmatch(text)
    phrase = (inner[1] if inner else text).strip().rstrip(".")
    if choice := CHOICE.fullmatch(phrase):
        return choice[1].lower()
    points = POINTS.fullmatch(phrase)
    if points and (named := points[points.lastindex or 0].lower()) not in MATHEMATICAL:
        return "".join(named.split())
    if not WORD.fullmatch(phrase):
        return None
    words = phrase.lower().replace("-", " ").split()
    if MATHEMATICAL.intersection(words):
        return None
    is_word = any(len(word) >= LETTERS or word in SHORT_WORDS for word in words)
    return " ".join(words) if is_word or (inner and len(phrase) > 1) else None


def letters(text: str) -> str | None:
    """Return the letters of a text that is a product or a ratio, for comparison with an answer that is a word."""
    if CLOCK.fullmatch(text):
        return re.sub(r"\s", "", text)
    if not PRODUCT.fullmatch(text):
        return None
    return re.sub(r"\\(?:cdot|times)|[^A-Za-z]", "", text).lower()


# --- numerals to a base: compared by their digits, not by value

NUMERAL = re.compile(
    r"\(?(?:\\text\s*\{\s*)?([0-9A-Za-z]+)\s*\}?\)?\s*_"
    r"\s*\{?\s*(?:\\text\s*\{\s*)?\(?([0-9]{1,2}|[a-z]{3,7})\)?\s*\}?\s*\}?"
)
BASES = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9"}


def numeral(text: str) -> str | None:
    """Return a numeral with its base as text; None if the text is none."""
    found = NUMERAL.fullmatch(text)
    if found is None or not any(sign.isdigit() for sign in found[1]):
        return None
    return f"{found[1].lower().lstrip('0') or '0'} to the base {BASES.get(found[2], found[2])}"


# --- times of day: as written, because 3:30 is also a ratio. 3:00 is none

TIME = re.compile(
    r"(\d{1,2})\s*:\s*(?:(\d\d)\s*(?:\\text\s*\{\s*)?([ap])\.?\s*m\.?\s*\}?|(0\d))",
    re.IGNORECASE,
)


def time(text: str) -> str | None:
    """Return a time of day as text; None if the text is none."""
    inner = ONE_TEXT.fullmatch(text)
    found = TIME.fullmatch(inner[1].strip() if inner else text)
    if found is None:
        return None
    return f"{int(found[1])}:{found[2]} {found[3].lower()}m" if found[2] else f"{int(found[1])}:{found[4]}"
