"""What the text of a mathematical answer says: words, or mathematics as a tree, perhaps a percentage or with a unit.

Text is put into the form that latex2sympy's grammar takes, with as little guessing as will do; what is ambiguous is
refused rather than guessed (`1 000` is no product). The grammar is a real parser, and nothing of the text is ever
evaluated as Python; even so, whoever reads a stranger's text is to be in a box of its own, and believed nothing but the
tree.
"""

import re
from typing import Any

import sympy
import trees
import units
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import NormalizationConfig, _Latex2Sympy, normalize_latex

Answer = dict[str, Any]  # `text`; or `tree`, `percent` and `unit`

MOST_CHARACTERS = 1000
MOST_OPEN = 40  # brackets within brackets: the grammar looks far ahead

# what latex2sympy's own normaliser is to do; units, and boxes, are looked at here
FORM = NormalizationConfig(basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none")


class Unreadable(ValueError):
    """This is no answer that can be compared; the message says why."""


def read(text: str) -> Answer:
    """The answer that a text gives. Raises Unreadable, or ImportError or MemoryError, which say nothing about it."""
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"it has {len(text)} characters, the most is {MOST_CHARACTERS}")
    text = _cleaned(text)
    if not text:
        raise Unreadable("it is empty")
    words = _words(text) or _numeral(text)
    if words:
        return {"text": words}
    if only := ONE_TEXT.fullmatch(text):
        text = only[1].strip()
    text, percent = _without_percent(text)
    text, unit = units.split(text)
    return {"tree": _tree(_unwrapped(text)), "percent": percent, "unit": unit}


def _tree(text: str) -> trees.Tree:
    text = _prepared(text)
    try:
        return trees.encode(_parsed(normalize_latex(text, FORM)))
    except trees.Foreign as error:
        raise Unreadable(str(error)) from None
    except RecursionError:
        raise Unreadable("it is nested too deep") from None
    except (ImportError, MemoryError, Unreadable):
        raise
    except Exception as error:  # the grammar's own complaints are of that type, and of many lines
        raise Unreadable(f"it cannot be parsed: {(str(error).splitlines() or [type(error).__name__])[0]}") from None


class _Grammar(_Latex2Sympy):  # type: ignore[misc]
    """latex2sympy's, but that `2(3)` is 6: mixed numbers have been written out before."""

    prediction = PredictionMode.SLL

    def create_parser(self, latex_str: str) -> Any:
        parser = super().create_parser(latex_str)
        parser._interp.predictionMode = self.prediction
        return parser

    def convert_postfix_list(self, arr: list[Any], i: int = 0) -> Any:
        values = [self.convert_postfix(each) for each in arr[i:]]
        if any(isinstance(value, list) for value in values):
            raise Unreadable("it is a derivative")
        result = values[-1]
        for value in reversed(values[:-1]):
            matrix = getattr(value, "is_Matrix", False) or getattr(result, "is_Matrix", False)
            result = self.mat_mul_flat(value, result) if matrix else self.mul_flat(value, result)
        return result


def _parsed(text: str) -> object:
    """By the quick way, which finds what the thorough one does, or nothing; a few brackets cost that one seconds."""
    grammar = _Grammar(is_real=True, convert_degrees=False)
    try:
        return grammar.parse(text)
    except (ImportError, MemoryError, RecursionError, Unreadable):
        raise
    except Exception:  # the grammar's own complaints are of that type
        grammar.prediction = PredictionMode.LL
        return grammar.parse(text)


# --- cleaning: what looks different and is the same

UNICODE = str.maketrans(
    {
        "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": r"\div ", "∗": "*", "π": r"\pi ",
        "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
        "±": r"\pm ", "∅": r"\emptyset ", "²": "^{2}", "³": "^{3}", "½": r"\frac{1}{2}", "√": r"\sqrt ", "’": "'",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "，": ",", "（": "(", "）": ")", "％": "%", "θ": r"\theta ",
    }
)  # fmt: skip

CLEANING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\\\$|\$|€|£|\\\(|\\\)|\\\[(?!\d+(?:pt|em|ex))|\\\]", ""),
        (r"\s+", " "),
        (r"\{\s*,\s*\}|,\s*\\!", ","),
        (r"(?<=\d)(?:\\[,:; ]|~)\s*(?=\d{3}(?!\d))", ","),  # thousands
        (r"\\!", ""),
        (r"(?<!\\)\\[,:; ]|~|\\q?quad(?![a-zA-Z])", " "),
        (r"\\(?:left|right|[bB]igg?[lrm]?)(?![a-zA-Z])\.?", ""),
        (r"\\(?:displaystyle|textstyle|limits|nolimits)(?![a-zA-Z])", ""),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\[dt]binom(?![a-zA-Z])", r"\\binom"),
        (r"\\(?:leqslant|leqq)(?![a-zA-Z])", r"\\le "),
        (r"\\(?:geqslant|geqq)(?![a-zA-Z])", r"\\ge "),
        (r"\\(?:varnothing)(?![a-zA-Z])", r"\\emptyset "),
        (r"\\(?:mathrm|mathbf|mathit|mathsf|boldsymbol|bm)\s*\{\s*([A-Za-z0-9])\s*\}", r"\1"),
        (
            r"\\(?:mathrm|mathbf|mathit|mathsf|textbf|textit|textrm|textnormal|textsf|mbox|hbox)\s*(?=\{)",
            r"\\text",
        ),
        (r",?\s*(?:\\text\s*\{\s*,?\s*(?:and|or)\s*\}|(?<![A-Za-z\\])(?:and|or)(?![A-Za-z]))", ","),
    )
)


def _cleaned(text: str) -> str:
    text = text.translate(UNICODE)
    for pattern, instead in CLEANING:
        text = pattern.sub(instead, text)
    text = _unwrapped(text.strip())
    text = text.removeprefix("=").strip()
    return text if text.endswith(r"\.") else text.rstrip(".,;: ")


def _unwrapped(text: str) -> str:
    """Without braces around all of it."""
    text = text.strip()
    while text[:1] == "{" and text[-1:] == "}" and text[-2:-1] != "\\" and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return place == len(text) - 1
    return False


# --- words

WORD = re.compile(r"[A-Za-z][A-Za-z' -]*")
LETTERS = 4  # from so many on, letters in a row are a word and no product
SHORT_WORDS = frozenset("yes no true odd even all none not red blue sat sun mon tue wed thu fri am pm".split())
MATHEMATICAL = frozenset("infinity infty inf alpha beta gamma delta theta lambda sigma omega".split())
ONE_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
CHOICE = re.compile(r"[(\[]?\s*([A-Z])\s*[)\]]?")


def _words(text: str) -> str | None:
    """An answer in words, or a letter to choose, in one spelling; None if it is mathematics."""
    inner = ONE_TEXT.fullmatch(text)
    said = (inner[1] if inner else text).strip().rstrip(".")
    if choice := CHOICE.fullmatch(said):
        return choice[1].lower()
    if not WORD.fullmatch(said):
        return None
    words = said.lower().replace("-", " ").split()
    if MATHEMATICAL.intersection(words):
        return None
    is_word = any(len(word) >= LETTERS or word in SHORT_WORDS for word in words)
    return " ".join(words) if is_word or (inner and len(said) > 1) else None


# --- numerals to a base: what they are worth is not the question, but how they are written

NUMERAL = re.compile(r"\(?([0-9A-Za-z]+)\)?\s*_\s*\{?\s*(?:\\text\s*\{\s*)?([0-9]{1,2}|[a-z]{3,7})\s*\}?\s*\}?")
BASES = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9"}


def _numeral(text: str) -> str | None:
    found = NUMERAL.fullmatch(text)
    if found is None or not any(sign.isdigit() for sign in found[1]):
        return None
    return f"{found[1].lower().lstrip('0') or '0'} to the base {BASES.get(found[2], found[2])}"


# --- percentages

PERCENT = re.compile(r"(.*\S)\s*(?:\\?%|\\text\s*\{\s*(?:\\?%|percent)\s*\}|percent)", re.IGNORECASE)


def _without_percent(text: str) -> tuple[str, bool]:
    found = PERCENT.fullmatch(text)
    return (found[1].removesuffix("\\"), True) if found else (text, False)


# --- preparing: what latex2sympy would misread

DIGIT = r"(\d|\{\s*\d+\s*\})"
PREPARING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\*\*", "^"),
        (r"_\s*([0-9A-Za-z])", r"_{\1}"),
        (r"(?<!\\)<=", r"\\le "),
        (r"(?<!\\)>=", r"\\ge "),
        (r"!=", r"\\ne "),
        (r"(?<![a-zA-Z\\])pi(?![a-zA-Z])", r"\\pi "),
        (r"(?<![a-zA-Z\\])(?:infinity|inf)(?![a-zA-Z])", r"\\infty "),
        (r"^\s*([-+]?\d+(?:\.\d+)?)[eE]([-+]?\d{1,6})\s*$", r"\1\\times 10^{\2}"),
        (r"\\frac\s*([0-9a-z])\s*([0-9a-z])", r"\\frac{\1}{\2}"),
        (r"\\frac\s*\{([^{}]*)\}\s*([0-9a-z])", r"\\frac{\1}{\2}"),
        (r"\\frac\s*([0-9a-z])\s*\{", r"\\frac{\1}{"),
        (r"(?<![\w.^}\\)])(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d.])", r"\1\\frac{\2}{\3}"),
        (r"\\binom\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\\binom{\1}{\2})"),
    )
)
MIXED = re.compile(r"(?<![\w.^}\\)])(\d+)\s*\\frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}(?!\s*\^)")
REPEATING = re.compile(r"(\d*)\.(\d*)(?:\\overline|\\bar|\\dot)\s*(?:\{\s*(\d+)\s*\}|(\d))")
DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\^\s*\{\s*\\circ\s*\}|\^\s*\\circ|\\degree|°)")
COMPUTING = (
    "eye|zeros|ones|diag|hstack|vstack|orth[a-z]*|rank|trace|tr|rref|nullspace|norm|cols|rows|eig[a-z]*|diagonalize|svd"
)
REFUSED = (
    (re.compile(r"\d\s+\d"), "two numbers stand side by side"),
    (re.compile(r"\\[lc]?dots|\.\.\."), "it goes on without end"),
    (re.compile(r"\\(?:xrightarrow|operatorname\s*\{\s*(?:" + COMPUTING + r")\s*\})"), "it is a command to compute"),
    (re.compile(r"\\(?:int|iint|oint|sum|prod|lim)(?![a-zA-Z])"), "it is a sum, an integral or a limit, not computed"),
)  # fmt: skip


def _prepared(text: str) -> str:
    for pattern, instead in PREPARING:
        text = pattern.sub(instead, text)
    text = MIXED.sub(_mixed, text)
    text = REPEATING.sub(_repeating, text)
    text = DEGREES.sub(r"(\1\\pi /180)", text)
    for pattern, why in REFUSED:
        if pattern.search(text):
            raise Unreadable(why)
    if _most_open(text) > MOST_OPEN:
        raise Unreadable("it is nested too deep")
    return text


def _mixed(found: re.Match[str]) -> str:
    whole, top, bottom = found.groups()
    if len(top) + len(bottom) < 9 and int(top) < int(bottom):
        return rf"({whole}+\frac{{{top}}}{{{bottom}}})"
    return rf"{whole}\cdot \frac{{{top}}}{{{bottom}}}"


def _repeating(found: re.Match[str]) -> str:
    """0.1666… as a fraction."""
    whole, once, again = found[1] or "0", found[2], found[3] or found[4]
    nines = (10 ** len(again) - 1) * 10 ** len(once)
    value = sympy.Rational(int(whole + once + again) - int(whole + once), nines)
    return rf"\frac{{{value.p}}}{{{value.q}}}"


def _most_open(text: str) -> int:
    depth = most = 0
    for sign in text:
        depth += (sign in "({[") - (sign in ")}]")
        most = max(most, depth)
    return most
