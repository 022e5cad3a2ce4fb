"""The spelling of a mathematical answer's text: one of several that mean the same, and where its brackets close."""

import re

FRACTIONS = dict(zip("½⅓⅔¼¾⅕⅛⅜⅝⅞", ("12", "13", "23", "14", "34", "15", "18", "38", "58", "78"), strict=True))
UNICODE = str.maketrans(
    {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {sign: rf"\frac{{{parts[0]}}}{{{parts[1]}}}" for sign, parts in FRACTIONS.items()}
    | {
        "−": "-", "–": "-", "—": "-", "－": "-", "﹣": "-", "º": "°",
        "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": r"\div ", "∗": "*", "π": r"\pi ",
        "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
        "≈": r"\approx ", "≅": r"\cong ", "≃": r"\simeq ",
        "∠": r"\angle ", "△": r"\triangle ",
        "±": r"\pm ", "∅": r"\emptyset ", "√": r"\sqrt ", "’": "'",
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
        (r"(?<!^)\\h(?:space|skip)\s*\{[^{}]*\}", " "),
        (r"\\color\s*\{\s*\w+\s*\}(?!\s*\{)|\\(?:bf|rm|it|sf|tt)(?![a-zA-Z])", " "),
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
        (r"\\operatorname\s*\{\s*((?:arc)?(?:sin|cos|tan|cot|sec|csc)|ln|log|gcd|lcm|max|min)\s*\}", r"\\\1 "),
        (r"\\(?:boldsymbol|bm)\s*(?=\{)", ""),
        (r"(?<=\d)\s*\\(?:mathrm|mathsf)\s*\{\s*([mghsLl])\s*\}(?=\s*(?:\^|$))", r"\\text{\1}"),
        (r"\\(?:mathrm|mathbf|mathit|mathsf)\s*\{\s*([A-Za-z0-9])\s*\}", r"\1"),
        (
            r"\\(?:mathrm|mathbf|mathit|mathsf|textbf|textit|textrm|textnormal|textsf|texttt|mathtt|emph|mbox|hbox)\s*(?=\{)",
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


RAISED = re.compile("[⁰¹²³⁴-⁹]+|[₀-₉]+")
LEVEL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "0123456789" * 2)


def _raised(found: re.Match[str]) -> str:
    """Return raised digits as a power, lowered ones as an index."""
    return f"{'_' if '₀' <= found[0] <= '₉' else '^'}{{{found[0].translate(LEVEL)}}}"


def cleaned(text: str) -> str:
    """Return the text without what adds no meaning, in one of several spellings of the same."""
    text = RAISED.sub(_raised, text.translate(UNICODE))
    for pattern, instead in CLEANING:
        text = pattern.sub(instead, text)
    text = unwrapped(EDGES.sub("", text.strip()))
    text = text.replace(" ", "") if GROUPED.fullmatch(text) else text
    text = text.replace(";", ",") if SEMICOLONS.fullmatch(text) else text
    text = unwrapped(INTRODUCTION.sub("", text).strip())
    text = text.removeprefix("=").strip()
    return text if text.endswith((r"\.", "..")) else text.rstrip(".,;: ")


TURNED = re.compile(r"\s*([\[\]])([^\[\],;]+)[,;]([^\[\],;]+)([\[\]])\s*")


def with_usual_brackets(text: str) -> str:
    """Return the text with intervals such as `]1,2[` in the notation with parentheses."""
    parts = re.split(r"(\\cup(?![a-zA-Z]))", text)
    for place, part in enumerate(parts):
        found = TURNED.fullmatch(part)
        if found and (found[1], found[4]) in (("]", "["), ("]", "]"), ("[", "[")):
            parts[place] = "[("[found[1] == "]"] + f"{found[2]},{found[3]}" + "])"[found[4] == "["]
    return "".join(parts)


GROUPED = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?:\.\d+)?")  # a number and nothing else, with blanks between thousands
SEMICOLONS = re.compile(r"(?:[(\[\]]|\\\{)[^,]*[)\]\[}]")  # between the parts of one bracket, and no comma
EDGES = re.compile(r"^(?:\\ |\s)+|(?:\\|\s)+$")
# words that precede an answer without being a part of it
INTRODUCTION = re.compile(
    r"^(?:\\text\s*\{\s*)?(?:the\s+)?(?:final\s+)?answer\s*(?:\s+is\b|:|=)\s*:?\s*\}?(?!\s*\})"
    r"|^\\(?:therefore|Rightarrow|implies)(?![a-zA-Z])",
    re.IGNORECASE,
)
WRAPPER = re.compile(r"\\(?:fbox|boxed|underline|(?:text)?color\s*\{\s*\w+\s*\})\s*(?=\{)|(?=\{)")


def unwrapped(text: str) -> str:
    """Return the text without braces, boxes or colours around all of it."""
    text = text.strip()
    while (found := WRAPPER.match(text)) and text[-1:] == "}" and text[-2:-1] != "\\":
        inner = text[found.end() :]
        if not closes_last(inner):
            break
        text = inner[1:-1].strip()
    for mark in ("**", "`"):
        if text.startswith(mark) and text.endswith(mark) and text.count(mark) == 2:
            return text.strip(mark).strip()
    return text


def closes_last(text: str, brackets: str = "{}") -> bool:
    """Return True if the bracket that opens first closes at the end of the text."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == brackets[0]) - (sign == brackets[1])
        if depth == 0:
            return place == len(text) - 1
    return False


def greatest_depth(text: str) -> int:
    """Return the largest number of brackets that are open at one place of a text."""
    depth = most = 0
    for sign in text:
        depth += (sign in "({[") - (sign in ")}]")
        most = max(most, depth)
    return most


def as_list(text: str) -> str:
    """Return the text with commas where it has `and` or `or`."""
    return AND.sub(",", OR.sub(",", text))


def is_list(text: str) -> bool:
    """Return True for a text of several answers separated by commas, without a bracket around all of them."""
    depth = 0
    for sign in as_list(text):
        depth += (sign in "({[") - (sign in ")}]")
        if sign == "," and depth == 0:
            return True
    return False
