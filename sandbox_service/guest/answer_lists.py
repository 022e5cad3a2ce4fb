"""Answers of several parts: ratios, lists, what is joined in words, and two values of one sign."""

import re

import trees
from latex_grammar import UnreadableError, parse
from latex_spelling import AND, OR, closes_last, greatest_depth, is_list

MOST_PARTS = 10
TO = re.compile(r"\s*(?:\\text\s*\{\s*to\s*\}|(?<![A-Za-z\\])to(?![A-Za-z]))\s*")
NO_WORD = re.compile(r"(?:\\[a-zA-Z]+|[^A-Za-z<>=,:])+")


def with_colons(text: str) -> str:
    """Return the text with the words of a ratio as colons: `3 to 4` is `3:4`."""
    parts = TO.split(text)
    return ":".join(parts) if len(parts) > 1 and all(map(NO_WORD.fullmatch, parts)) else text


def ratio(text: str) -> trees.Tree | None:
    """Return the tree of a text that is a ratio of three or more parts; else None. The grammar reads ratios of two."""
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
    return ["Ratio", *map(parse, parts)]


INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|lt|gt|ne)q?(?![a-zA-Z])")
HALF_LINE = re.compile(r"[(\[][^()\[\]]*,[^()\[\]]*[)\]]")
BUILDER = re.compile(r"\\\{\s*([a-z])\s*(?:\\in\s*\\mathbb\s*\{\s*R\s*\}\s*)?(?:\\mid(?![a-zA-Z])|\\?\||:)(.*)\\\}")
SIGNS = re.compile(r"\\(?:pm|mp)(?![a-zA-Z])")


def joined(text: str) -> trees.Tree | None:
    """Return the tree of inequalities or half-lines that are joined in words; None if the text has none.

    Other answers that are joined in words are lists.
    """
    if (found := BUILDER.fullmatch(text)) and INEQUALITY.search(found[2]):
        text = found[2].strip()
        return joined(text) or parse(text)
    for pattern, head in ((OR, "Or"), (AND, "And")):
        parts = [part.strip() for part in pattern.split(text)]
        if len(parts) == 1:
            continue
        if all(INEQUALITY.search(part) and not is_list(part) for part in parts):
            return [head, *(joined(part) or parse(part) for part in parts)]
        if head == "Or" and "inf" in text and all(HALF_LINE.fullmatch(part) for part in parts):
            return ["Union", *map(parse, parts)]
    return None


def alternatives(text: str) -> trees.Tree | None:
    r"""Return the two values of a text with one \pm inside braces, where the grammar has none; else None."""
    found = list(SIGNS.finditer(text))
    if len(found) != 1 or text[: found[0].start()].count("{") == text[: found[0].start()].count("}"):
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    return ["FiniteSet", parse(f"{before}+{after}"), parse(f"{before}-{after}")]


def bracketed(text: str) -> trees.Tree | None:
    """Return the list in a text if it has one element, or twice the same, which the grammar would read; else None."""
    if not (text[:1] == "[" and text[-1:] == "]" and closes_last(text, "[]")) or r"\begin" in text:
        return None
    if not is_list(text[1:-1]):
        return ["Tuple", parse(text[1:-1])]
    parts = text[1:-1].split(",")
    if len(parts) == 2 and greatest_depth(text) == 1 and parse(parts[0]) == parse(parts[1]):
        return ["Tuple", *map(parse, parts)]
    return None
