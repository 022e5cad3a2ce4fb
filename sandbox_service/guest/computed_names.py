"""Finds sources that may use attributes by computed names, from their text.

Names that stand in a source are looked at by plain_programs.py. Two things take others: a template reads any attribute
(`"{0.gi_frame.f_back}".format(generator)`), and `type` makes classes with any special method, which `copy`, class
patterns and the collector then use. A program that names `format` or `type` shares a box only if it formats literals
whose fields read nothing, next to the call, and takes no more than the identity or the name of a type.
"""

import re

MOST_CHARACTERS = 200_000  # of a source that is looked into
NEEDED = "format type"  # a source in ASCII without these words has no such name

_INSIDE = r"""[^(),=*'"\\\n#]*"""
# Before an expression whose first operand is not also that of an operator before it
_BEGINNING = r"(?:[(,\[{:]|(?<![=!<>])=|\b(?:if|elif|while|and|or|not|return|else|assert|yield)\b)[ \t]*"
_END = r"(?=[ \t]*(?:[):,\]}\n]|\Z|(?:and|or|if|else)\b))"
_FITTING = re.compile(
    rf"""
    (?: [=(,\[:+%{{] | \b(?:return|in|and|or|not|if|else|yield) ) [ \t]*
        (?P<literal> "[^"\\\n]*" | '[^'\\\n]*' ) \.format(?:_map)?\b
  | (?<![\w.]) type \( {_INSIDE} \) \.__name__\b
  | {_BEGINNING} type \( {_INSIDE} \) [ \t]+ is \b (?: [ \t]+ not\b )? (?: [ \t]* type \( {_INSIDE} \) {_END} )?
    """,
    re.VERBOSE,
)
_OTHER = re.compile(r"\.(?:\s|\\|#[^\n]*)*format(?:_map)?\b|\bformat(?:_map)?\s*=|\btype\b")
_READ = re.compile(r"\{[^{}!:]*[.\[]")


def may_compute(text: str) -> bool:
    """Return whether a source may use attributes by computed names, if it names `format` or `type`.

    Args:
        text: the source. Other letters than those of ASCII may be spellings of these, and are not looked into.
    """
    if not text.isascii() or len(text) > MOST_CHARACTERS:
        return True
    is_named = "format" in text or "type" in text
    return is_named and _OTHER.search(_FITTING.sub(_without_harmless, text)) is not None


def _without_harmless(found: re.Match[str]) -> str:
    literal = found["literal"]
    return found[0] if literal is not None and _READ.search(literal) else "="
