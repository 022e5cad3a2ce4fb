"""The grammar of mathematics: latex2sympy's, a real parser, and the notation that it would misread."""

import re
from typing import Any

import sympy
import trees
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import NormalizationConfig, _Latex2Sympy, normalize_latex
from latex_spelling import as_list, greatest_depth

MOST_OPEN = 40  # nested brackets; the grammar looks far ahead

# steps of latex2sympy's own normaliser; units and boxes are handled elsewhere
FORM = NormalizationConfig(basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none")


class UnreadableError(ValueError):
    """Raised for text that is not an answer that can be compared; the message gives the reason."""


def parse(text: str) -> trees.Tree:
    """Parse one expression, equation, set or list.

    Args:
        text: the text, in the spelling of `latex_spelling`.

    Returns:
        Its tree.

    Raises:
        UnreadableError: the text cannot be parsed, or may mean several things.
        ImportError: a part of a library is missing; says nothing about the text.
        MemoryError: parsing needed too much memory; says nothing about the text.
    """
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

    def convert_func(self, func: Any) -> Any:
        """Return the value of the function `func`; an odd root of a negative number is the real one."""
        value = super().convert_func(func)
        if not (func.FUNC_SQRT() and func.root and isinstance(value, sympy.Pow)):
            return value
        base, degree = value.args[0].doit(), 1 / value.args[1]
        is_real = degree.is_Integer and degree.is_odd and base.is_number and base.is_negative
        return -sympy.Pow(-base, 1 / degree, evaluate=False) if is_real else value

    def handle_gcd_lcm(self, name: str, args: Any) -> Any:
        """Return the function `name` of `args`: an application of unknowns, as sympy's is that of polynomials."""
        if all(each.is_number for each in args):
            return super().handle_gcd_lcm(name, args)
        return sympy.Function(name)(*sorted(args, key=sympy.srepr))


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
        (r"(\\[a-z]+)\s*\^\s*(\d)(?=\s+\d)", r"\1^{\2}"),  # \ln^2 2
        (r"(?<=\d)\s*x\s*(?=10\s*\^)", r"\\times "),
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
        (r"\\binom\s*([0-9a-z])\s*([0-9a-z])", r"\\binom{\1}{\2}"),
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
    text = as_list(text)
    for pattern, instead in PREPARING:
        text = pattern.sub(instead, text)
    text = MIXED.sub(_mixed, text)
    text = REPEATING.sub(_repeating, text)
    text = DEGREES.sub(r"(\1\\pi /180)", text)
    for pattern, why in REFUSED:
        if pattern.search(text):
            raise UnreadableError(why)
    if greatest_depth(text) > MOST_OPEN:
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
