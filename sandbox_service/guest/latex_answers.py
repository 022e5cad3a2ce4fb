"""Parses the text of a mathematical answer: words, or mathematics as a tree, perhaps with a percent sign or a unit.

The text is normalised to the form that latex2sympy's grammar accepts, with as little guessing as possible; ambiguous
text is refused (`1 000` is not a product). The grammar is a real parser, and no text is ever evaluated as Python. Even
so, untrusted text is parsed in a box of its own, and only the resulting tree is used.
"""

import re
from typing import Any

import sympy
import trees
import units
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import NormalizationConfig, _Latex2Sympy, normalize_latex

Answer = dict[str, Any]  # `text`; or `tree`, `percent`, `unit`, `listed` and `letters`

MOST_CHARACTERS = 1000
MOST_OPEN = 40  # nested brackets; the grammar looks far ahead

# steps of latex2sympy's own normaliser; units and boxes are handled here
FORM = NormalizationConfig(basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none")


class UnreadableError(ValueError):
    """Raised for text that is not an answer that can be compared; the message gives the reason."""


def read(text: str) -> Answer:
    """Parse an answer.

    Args:
        text: the candidate's or the expected answer.

    Returns:
        The answer: `text` for words; otherwise `tree`, `percent`, `unit`, `listed` and `letters`.

    Raises:
        UnreadableError: the text is not an answer.
        ImportError: a part of a library is missing; says nothing about the text.
        MemoryError: parsing needed too much memory; says nothing about the text.
    """
    if len(text) > MOST_CHARACTERS:
        raise UnreadableError(f"it has {len(text)} characters, the limit is {MOST_CHARACTERS}")
    text, money = units.money(text)
    text = _with_usual_brackets(_cleaned(text))
    if not text:
        raise UnreadableError("it is empty")
    words = _words(_as_list(text)) or _numeral(text) or _time(text) or units.compound(text)
    if words:
        return {"text": words}
    if only := ONE_TEXT.fullmatch(text):
        text = only[1].strip()
    text, percent = _without_percent(text)
    text, modulus = _without_modulus(text)
    text, unit = units.split(units.scaled(text))
    text = _with_colons(_unwrapped(_without_estimate(text)))
    return {
        "tree": _joined(text) or _alternatives(text) or _bracketed(text) or _ratio(text) or _tree(text),
        "percent": percent,
        "unit": modulus or unit or money,
        "listed": _is_list(text),
        "letters": _letters(text),
    }


def _tree(text: str) -> trees.Tree:
    text = _prepared(text)
    try:
        return trees.encode(_parsed(normalize_latex(text, FORM)))
    except trees.ForeignNodeError as error:
        raise UnreadableError(str(error)) from None
    except RecursionError:
        raise UnreadableError("it is nested too deeply") from None
    except (ImportError, MemoryError, UnreadableError):
        raise
    except Exception as error:  # the grammar raises plain Exception, with a message of many lines
        raise UnreadableError(
            f"it cannot be parsed: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from None


class _Grammar(_Latex2Sympy):  # type: ignore[misc]
    """latex2sympy's grammar, except that `2(3)` is 6: mixed numbers have been rewritten before."""

    prediction = PredictionMode.SLL

    def create_parser(self, latex_str: str) -> Any:
        parser = super().create_parser(latex_str)
        parser._interp.predictionMode = self.prediction
        return parser

    def convert_postfix_list(self, arr: list[Any], i: int = 0) -> Any:
        values = [self.convert_postfix(each) for each in arr[i:]]
        if any(isinstance(value, list) for value in values):
            raise UnreadableError("it is a derivative")
        result = values[-1]
        for value in reversed(values[:-1]):
            matrix = getattr(value, "is_Matrix", False) or getattr(result, "is_Matrix", False)
            result = self.mat_mul_flat(value, result) if matrix else self.mul_flat(value, result)
        return result


def _parsed(text: str) -> object:
    """Return the parsed text: by the fast prediction mode, and by the full mode only if that fails."""
    # the fast mode finds the same result or none; a few brackets cost the full mode seconds
    grammar = _Grammar(is_real=True, convert_degrees=False)
    try:
        return grammar.parse(text)
    except (ImportError, MemoryError, RecursionError, UnreadableError):
        raise
    except Exception:  # the grammar raises plain Exception
        grammar.prediction = PredictionMode.LL
        return grammar.parse(text)


# --- cleaning: spellings of the same text

UNICODE = str.maketrans(
    {
        "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": r"\div ", "∗": "*", "π": r"\pi ",
        "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
        "≈": r"\approx ", "≅": r"\cong ", "≃": r"\simeq ",
        "∠": r"\angle ", "△": r"\triangle ",
        "±": r"\pm ", "∅": r"\emptyset ", "²": "^{2}", "³": "^{3}", "½": r"\frac{1}{2}", "√": r"\sqrt ", "’": "'",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "，": ",", "（": "(", "）": ")", "％": "%", "θ": r"\theta ",
    }
)  # fmt: skip

COMMANDS = "left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits"
CLEANING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        # parts that are removed below, between two numbers: removing them would join these
        (rf"(?<=\d)(?:\s*(?:\\?\$|€|£|¥|₹|\\[()]|\\(?:{COMMANDS})(?![a-zA-Z])))+\s*(?=\d)", " "),
        (r"^\s*\{\s*\}", ""),
        (r"\\\$|\$|€|£|¥|₹|\\\(|\\\)|\\\[(?!\d+(?:pt|em|ex))|\\\]", ""),
        (r"\s+", " "),
        (r"\\\\\s*\[\d+(?:\.\d+)?(?:pt|em|ex|mm)\]", r"\\\\"),  # the height of a matrix row
        (r"\\(?:tiny|small|normalsize|[lL]arge|LARGE|huge|Huge)(?![a-zA-Z])", " "),
        (r"\\(?:text\s*)?\{\s*:\s*\}|(?<!\\)\{\s*:\s*\}|\\colon(?![a-zA-Z])", ":"),
        (r"\\text\s*\{\s*([ie.])\s*\}", r"\1"),  # the constants; not units
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
        (r"\\(?:varnothing)(?![a-zA-Z])|\\text\s*\{\s*(?:the )?empty set\s*\}", r"\\emptyset "),
        (r"\\lbrace(?![a-zA-Z])", r"\\{"),
        (r"\\rbrace(?![a-zA-Z])", r"\\}"),
        (r"\\backslash(?![a-zA-Z])", r"\\setminus "),
        (r"\\bigcup(?![a-zA-Z])", r"\\cup "),
        (r"\\bigtriangleup(?![a-zA-Z])", r"\\triangle "),
        (r"\\(?:text\s*\{\s*)all real numbers\s*\}|^all real numbers$", r"\\mathbb{R}"),
        (r"\\langle(?![a-zA-Z])", "("),
        (r"\\rangle(?![a-zA-Z])", ")"),
        (r"\\R(?![a-zA-Z])", r"\\mathbb{R}"),
        (r"\\(?:boldsymbol|bm)\s*(?=\{)", ""),
        (r"(?<=\d)\s*\\(?:mathrm|mathsf)\s*\{\s*([mghsLl])\s*\}(?=\s*(?:\^|$))", r"\\text{\1}"),
        (r"\\(?:mathrm|mathbf|mathit|mathsf)\s*\{\s*([A-Za-z0-9])\s*\}", r"\1"),
        (
            r"\\(?:mathrm|mathbf|mathit|mathsf|textbf|textit|textrm|textnormal|textsf|mbox|hbox)\s*(?=\{)",
            r"\\text",
        ),
    )
)
AND, OR = (
    re.compile(
        rf",?\s*(?:\\text\s*\{{\s*,?\s*{word}\s*\}}|(?<![A-Za-z\\]){word}(?![A-Za-z])|\\(?:{signs})(?![a-zA-Z]))"
    )
    for word, signs in (("and", "land|wedge"), ("or", "lor|vee"))
)


def _cleaned(text: str) -> str:
    text = text.translate(UNICODE)
    for pattern, instead in CLEANING:
        text = pattern.sub(instead, text)
    text = _unwrapped(EDGES.sub("", text.strip()))
    text = _unwrapped(INTRODUCTION.sub("", text).strip())
    text = text.removeprefix("=").strip()
    return text if text.endswith((r"\.", "..")) else text.rstrip(".,;: ")


TURNED = re.compile(r"\s*([\[\]])([^\[\],;]+)[,;]([^\[\],;]+)([\[\]])\s*")


def _with_usual_brackets(text: str) -> str:
    """Return intervals such as `]1,2[` in the notation with parentheses."""
    parts = re.split(r"(\\cup(?![a-zA-Z]))", text)
    for place, part in enumerate(parts):
        found = TURNED.fullmatch(part)
        if found and (found[1], found[4]) in (("]", "["), ("]", "]"), ("[", "[")):
            parts[place] = "[("[found[1] == "]"] + f"{found[2]},{found[3]}" + "])"[found[4] == "["]
    return "".join(parts)


# --- ratios

MOST_PARTS = 10
TO = re.compile(r"\s*(?:\\text\s*\{\s*to\s*\}|(?<![A-Za-z\\])to(?![A-Za-z]))\s*")
NO_WORD = re.compile(r"(?:\\[a-zA-Z]+|[^A-Za-z<>=,:])+")


def _with_colons(text: str) -> str:
    """Return a ratio in words with colons: `3 to 4` is `3:4`."""
    parts = TO.split(text)
    return ":".join(parts) if len(parts) > 1 and all(map(NO_WORD.fullmatch, parts)) else text


def _ratio(text: str) -> trees.Tree | None:
    """Return the tree of a ratio with three or more parts; one of two parts is a quotient, which the grammar reads."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "({[") - (sign in ")}]")
        if sign == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    if len(parts) < 3:
        return None
    if len(parts) > MOST_PARTS:
        raise UnreadableError("it is a ratio of too many parts")
    return ["Ratio", *map(_tree, parts)]


EDGES = re.compile(r"^(?:\\ |\s)+|(?:\\|\s)+$")
# words that precede an answer without being a part of it
INTRODUCTION = re.compile(
    r"^(?:\\text\s*\{\s*)?(?:the\s+)?(?:final\s+)?answer\s*(?:\s+is\b|:|=)\s*:?\s*\}?(?!\s*\})"
    r"|^\\(?:therefore|Rightarrow|implies)(?![a-zA-Z])",
    re.IGNORECASE,
)
WRAPPER = re.compile(r"\\(?:fbox|boxed|underline|(?:text)?color\s*\{\s*\w+\s*\})\s*(?=\{)|(?=\{)")


def _unwrapped(text: str) -> str:
    """Return the text without braces, boxes or colours around all of it."""
    text = text.strip()
    while (found := WRAPPER.match(text)) and text[-1:] == "}" and text[-2:-1] != "\\":
        inner = text[found.end() :]
        if not _closes_last(inner):
            break
        text = inner[1:-1].strip()
    if text.startswith("**") and text.endswith("**") and text.count("**") == 2:
        return text[2:-2].strip()
    return text


def _closes_last(text: str, brackets: str = "{}") -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == brackets[0]) - (sign == brackets[1])
        if depth == 0:
            return place == len(text) - 1
    return False


# --- words

WORD = re.compile(r"[A-Za-z][A-Za-z' -]*")
LETTERS = 4  # at least this many letters in a row are a word, not a product
SHORT_WORDS = frozenset("yes no true odd even all none not red blue sat sun mon tue wed thu fri am pm".split())
MATHEMATICAL = frozenset("infinity infty inf alpha beta gamma delta theta lambda sigma omega".split())
ONE_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
# points in order: the angle ABC differs from the angle CAB, and neither is a product
POINTS = re.compile(
    r"(?:\\(?:angle|measuredangle|triangle|square)\s*)?\(?([A-Z]'*(?:\s*[A-Z]'*)+)\)?"
    r"|\\(?:overline|angle|triangle)\s*\{\s*([A-Z]'*(?:\s*[A-Z]'*)*)\s*\}"
    r"|\\angle\s*([A-Z]'*)"
)
PRODUCT = re.compile(r"[A-Za-z](?:\s*(?:\\cdot|\\times|\*)?\s*[A-Za-z])+")
CHOICE = re.compile(r"(?:(?:[Oo]ption|[Cc]hoice)\s+)?[(\[]?\s*([A-Z])\s*[)\]]?")


CLOCK = re.compile(r"[1-9]\d?\s*:\s*[0-5]\d")


def _words(text: str) -> str | None:
    """Return an answer in words, or the letter of a choice, in one spelling; None if it is mathematics."""
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


def _letters(text: str) -> str | None:
    """Return the letters of a product, or a ratio, as written, for comparison with an answer that is a word."""
    if CLOCK.fullmatch(text):
        return re.sub(r"\s", "", text)
    if not PRODUCT.fullmatch(text):
        return None
    return re.sub(r"\\(?:cdot|times)|[^A-Za-z]", "", text).lower()


# --- lists without brackets

INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|lt|gt)q?(?![a-zA-Z])")
HALF_LINE = re.compile(r"[(\[][^()\[\]]*,[^()\[\]]*[)\]]")
BUILDER = re.compile(r"\\\{\s*([a-z])\s*(?:\\in\s*\\mathbb\s*\{\s*R\s*\}\s*)?(?:\\mid(?![a-zA-Z])|\\?\||:)(.*)\\\}")
SIGNS = re.compile(r"\\(?:pm|mp)(?![a-zA-Z])")


def _as_list(text: str) -> str:
    """Return the text with commas where it has `and` or `or`."""
    return AND.sub(",", OR.sub(",", text))


def _joined(text: str) -> trees.Tree | None:
    """Return the tree of inequalities or half-lines that are joined in words; None if the text has none.

    Other answers that are joined in words are lists.
    """
    if (found := BUILDER.fullmatch(text)) and INEQUALITY.search(found[2]):
        text = found[2].strip()
        return _joined(text) or _tree(text)
    for pattern, head in ((OR, "Or"), (AND, "And")):
        parts = [part.strip() for part in pattern.split(text)]
        if len(parts) == 1:
            continue
        if all(INEQUALITY.search(part) and not _is_list(part) for part in parts):
            return [head, *(_joined(part) or _tree(part) for part in parts)]
        if head == "Or" and "inf" in text and all(HALF_LINE.fullmatch(part) for part in parts):
            return ["Union", *map(_tree, parts)]
    return None


def _alternatives(text: str) -> trees.Tree | None:
    r"""Return the two values of an answer with one \pm inside braces, where the grammar has none; else None."""
    found = list(SIGNS.finditer(text))
    if len(found) != 1 or text[: found[0].start()].count("{") == text[: found[0].start()].count("}"):
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    return ["FiniteSet", _tree(f"{before}+{after}"), _tree(f"{before}-{after}")]


def _bracketed(text: str) -> trees.Tree | None:
    """Return a list of one element, or of twice the same, which the grammar reads as that element; else None."""
    if not (text[:1] == "[" and text[-1:] == "]" and _closes_last(text, "[]")) or r"\begin" in text:
        return None
    if not _is_list(text[1:-1]):
        return ["Tuple", _tree(text[1:-1])]
    parts = text[1:-1].split(",")
    if len(parts) == 2 and _greatest_depth(text) == 1 and _tree(parts[0]) == _tree(parts[1]):
        return ["Tuple", *map(_tree, parts)]
    return None


def _is_list(text: str) -> bool:
    """Return True for several answers separated by commas, without a bracket around all of them."""
    depth = 0
    for sign in _as_list(text):
        depth += (sign in "({[") - (sign in ")}]")
        if sign == "," and depth == 0:
            return True
    return False


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
    exact, rounded = _unwrapped(parts[0]), DECIMAL.fullmatch(parts[1])
    if len(parts) > 2 or rounded is None:
        raise UnreadableError("the value after an approximation sign is not a decimal number")
    value = trees.decode(_tree(exact.rpartition("=")[2]))
    places = len(rounded[1] or "")
    apart = value.evalf(places + 20) - sympy.Rational(rounded[0].strip())
    # with two or more decimal places, a truncated value is accepted too
    unit = sympy.Rational(1 if places > 1 else sympy.Rational(1, 2), 10**places)
    if not apart.is_number or not apart.is_real or abs(apart) > unit:
        raise UnreadableError("the values around an approximation sign differ")
    return exact


# --- numerals to a base: compared by their digits, not by value

NUMERAL = re.compile(r"\(?([0-9A-Za-z]+)\)?\s*_\s*\{?\s*(?:\\text\s*\{\s*)?\(?([0-9]{1,2}|[a-z]{3,7})\)?\s*\}?\s*\}?")
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
    if found is None:
        return text, False
    if "%" in found[1]:
        raise UnreadableError("it has two percent signs")
    return found[1].removesuffix("\\"), True


# --- times of day: as written, because 3:30 is also a ratio

TIME = re.compile(r"(\d{1,2})\s*:\s*(\d\d)\s*(?:\\text\s*\{\s*)?([ap])\.?\s*m\.?\s*\}?", re.IGNORECASE)


def _time(text: str) -> str | None:
    found = TIME.fullmatch(text)
    return f"{int(found[1])}:{found[2]} {found[3].lower()}m" if found else None


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


# --- preparing: notation that latex2sympy would misread


def _primed(found: re.Match[str]) -> str:
    """Return a letter with primes as one with an index, because the grammar ignores primes."""
    return f"{found[1]}_{{p{len(found[2])}}}"


DIGIT = r"(\d|\{\s*\d+\s*\})"
PREPARING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\*\*", "^"),
        (r"([A-Za-z])('+)(?!')", _primed),
        (r"_\s*([0-9A-Za-z])", r"_{\1}"),
        (r"([A-Za-z])\s*\^\s*(\{[^{}]*\}|\w)\s*_(\{[^{}]*\})", r"\1_\3^\2"),  # the grammar drops the index
        (r"\\vec\s+([A-Za-z])", r"\\vec{\1}"),
        (r"\\lg(?![a-zA-Z])", r"\\log_{10}"),
        (r"(?<![a-zA-Z\\])(ln|log|sin|cos|tan)(?![a-zA-Z])", r"\\\1 "),
        (r"\{\s*(\w+)\s*\\choose\s*(\w+)\s*\}|^\s*(\w+)\s*\\choose\s*(\w+)\s*$", r"\\binom{\1\3}{\2\4}"),
        (r"\\frac\s*(\\pi)\s*([0-9a-z])", r"\\frac{\1}{\2}"),
        (r"\.(\d*)\\dot\s*\{?(\d)\}?(\d*)\\dot\s*\{?(\d)\}?", r".\1\\overline{\2\3\4}"),
        (r"(?<!\\)<=", r"\\le "),
        (r"(?<!\\)>=", r"\\ge "),
        (r"!=", r"\\ne "),
        (r"(?<![a-zA-Z\\])pi(?![a-zA-Z])", r"\\pi "),
        (r"(?<![a-zA-Z\\])(?:infinity|inf|oo)(?![a-zA-Z])", r"\\infty "),
        (r"(?<![a-zA-Z\\])abs\s*\(([^()]*)\)", r"|\1|"),
        # combinations as other countries write them; with digits only, as the letter may be an unknown
        (r"[_^]\s*\{?\s*(\d+)\s*\}?\s*C\s*_\s*(?:\{\s*(\d+)\s*\}|(\d+))", r"\\binom{\1}{\2\3}"),
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
    (re.compile(r"\d\s+\d"), "it has two adjacent numbers"),
    (re.compile(r"(?<![\w^{}\\])\d+\s*_|\^\s*(?:\{[^{}]*\}|\w)\s*_"), "it has a number with an index"),
    (re.compile(r"\|\s*_"), "it is to be evaluated at a place"),
    (re.compile(r"'|\\prime(?![a-zA-Z])"), "it has a prime"),
    (re.compile(r"\\[lc]?dots|\.\.\."), "it has an ellipsis"),
    (re.compile(r"\\(?:xrightarrow|operatorname\s*\{\s*(?:" + COMPUTING + r")\s*\})"), "it is a command to compute"),
    (re.compile(r"\\(?:int|iint|oint|sum|prod|lim)(?![a-zA-Z])"), "it is a sum, an integral or a limit"),
)  # fmt: skip


TRANSPOSED = re.compile(r"\^\s*(?:T(?![A-Za-z])|\{\s*T\s*\})")


def _prepared(text: str) -> str:
    if r"\begin" not in text and TRANSPOSED.search(text):
        raise UnreadableError("it has a transposed value that is no matrix")
    text = _as_list(text)
    for pattern, instead in PREPARING:
        text = pattern.sub(instead, text)
    text = MIXED.sub(_mixed, text)
    text = REPEATING.sub(_repeating, text)
    text = DEGREES.sub(r"(\1\\pi /180)", text)
    for pattern, why in REFUSED:
        if pattern.search(text):
            raise UnreadableError(why)
    if _greatest_depth(text) > MOST_OPEN:
        raise UnreadableError("it is nested too deeply")
    return text


def _mixed(found: re.Match[str]) -> str:
    whole, top, bottom = found.groups()
    if len(top) + len(bottom) < 9 and int(top) < int(bottom):
        return rf"({whole}+\frac{{{top}}}{{{bottom}}})"
    return rf"{whole}\cdot \frac{{{top}}}{{{bottom}}}"


def _repeating(found: re.Match[str]) -> str:
    """Return 0.1666… as a fraction."""
    whole, prefix, period = found[1] or "0", found[2], found[3] or found[4]
    nines = (10 ** len(period) - 1) * 10 ** len(prefix)
    value = sympy.Rational(int(whole + prefix + period) - int(whole + prefix), nines)
    return rf"\frac{{{value.p}}}{{{value.q}}}"


def _greatest_depth(text: str) -> int:
    depth = most = 0
    for sign in text:
        depth += (sign in "({[") - (sign in ")}]")
        most = max(most, depth)
    return most
