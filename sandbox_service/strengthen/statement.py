"""Reads rules about inputs from a statement, and says which of them the facts of the given inputs do not have.

Ranges are read in ranges.py. A rule is a sentence that guarantees something, or that says what the input is. Facts
express some rules: a tree, a connected graph, distinct items, an order, a permutation, a bound of a sum. Any other
guarantee is one that made inputs may break, so that few references are not enough to judge them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sandbox_service.strengthen.bounds import NUMBER, number_in
from sandbox_service.strengthen.facts import Facts
from sandbox_service.strengthen.properties import Kept, Numbers, kept_in
from sandbox_service.strengthen.sections import parts_of
from sandbox_service.validation.notation import plain

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*[*#-])")
_GUARANTEE = re.compile(
    r"guarant\w+,? that|guarant\w+ to\b|(?:is|are|it'?s) (?:\w+ )?guarant\w+|you (?:may|can) assume|it is known that",
    re.IGNORECASE,
)
# no guarantee: `it is not guaranteed that all cities are connected`
_NO_GUARANTEE = re.compile(r"(?:,? but )?(?:it is|it'?s) not guaranteed(?:(?!\bbut\b)[^.;])*", re.IGNORECASE)
# a guarantee about the answer, which no input can break
_CLAIM = re.compile(r"always (?:\w+ )?(?:exists?|possible)|under (?:\w+ )*constraints", re.IGNORECASE)
_SUM = re.compile(r"\b(?:sum|total)\b|∑|\\sum|\bsums\b", re.IGNORECASE)
_LIMIT = re.compile(rf"(?:exceeds?|at most|≤|<=|more than|greater than|up to)\s*({NUMBER})")
_TREE = re.compile(r"\btrees?\b|\brooted\b|\bcycles?\b|\bacyclic\b", re.IGNORECASE)
_CONNECTED = re.compile(
    r"\bconnect(?:ed(?! by (?:the|this|an?)\b)|ivity)?\b|\breach\w*|\bpath\b|\b(?:get|pass) from\b|\bfrom any\b"
    r"|\btravel",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"no two|multiple (?:edges|roads)|multi-?edges|(?:at most|exactly|more than|only) once|twice|unique|pairwise"
    r"|same (?:pair|point|position|place|number)|(?:at most|more than) one|coincide|repeat"
    r"|all\b[^.]*(?:distinct|different)",
    re.IGNORECASE,
)
_UNEQUAL = re.compile(r"distinct|different|loops?\b|\bitself\b|himself|≠|!=|\\ne\b|not equal|\bequal\b", re.IGNORECASE)
_LESS = re.compile(r"[a-z](?:_?\{?[a-z]\}?)?\s*<\s*[a-z](?:_?\{?[a-z]\}?)?\s*(?:≤|<|\))", re.IGNORECASE)
_PART = r"[a-z](?:_?\{?\w\}?)?"
_ORDERED = re.compile(rf"(?<![a-z_\d])({_PART})\s*(?:≤|<=|<)\s*({_PART})(?![a-z_\d])", re.IGNORECASE)
# names of two ends; `k ≤ n` is of a number and a size
_ENDS = frozenset({"lr", "se", "st", "ab", "cd", "pq", "uv", "xy"})
# a number that some lines have, such as those of roots: `c_i = 0 for the root`
_FIXED = re.compile(rf"(?<![a-z_\d]){_PART}\s*=\s*-?\d+,? for\b", re.IGNORECASE)
_OWN = re.compile(r"(?:≠|!=)\s*i\b", re.IGNORECASE)  # the item at each place is not the number of the place
_PERMUTATION = re.compile(r"permutation", re.IGNORECASE)
_SORTED = re.compile(r"sorted|(?:in|de)creasing|(?:ascending|descending|chronological) order", re.IGNORECASE)
_HARMLESS = re.compile(
    r"\b(?:answers?|results?|values?|outputs?)\b.*\b(?:fits?|exceed|less than|at most)\b|non-?empty"
    r"|consists? (?:only )?of|(?:lower|upper)-?case|\bletters?\b|\bdigits?\b|leading zero",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"at least|equal to the"
    r"|\bexists?\b|solutions?\b|possible to (?!reach)|\bvalid\b|\bcorrect\b|\bnever\b|intersect|overlap"
    r"|touch|collinear",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?:will be|is|are) equal to the"
    r"|(?:pairwise|all\b[^.]*) (?:distinct|different|unique)"
    r"|distinct (?:\w+ )?(?:integers|numbers|points|strings|words)"
    r"|permutation of|connected (?:undirected )?graph|no two\b|at most once|exactly once|sorted in|possible to reach"
    r"|(?:increasing|ascending|descending|decreasing) order"
    r"|(?:\w+ )?(?:are|is) (?:all |pairwise )?(?:distinct|different|unique)"
    r"|(?:form|is|be|are|describe|specif\w+) (?:a |the )?(?:\w+ )?tree",
    re.IGNORECASE,
)
_THINGS = "integers?|numbers?|lines?|strings?|spaces?|characters?|words?|tokens?|blanks?|rows?|values?"
# properties in usual words, which no fact expresses
_PROPERTY = re.compile(
    r"\b(?:is|are|an?|be|both|of) (?:even|odd)\b|\b(?:even|odd) (?:\w+ )?(?:integers?|numbers?|length)|\bparity\b"
    r"|powers? of (?:two|three|ten|2|3|10)\b|\b(?:co-?)?primes?\b|\bcomposite\b|divisible|\bdivides\b|multiples? of"
    rf"|\b(?:at least|exactly) (?:one|two|1|2)\b(?! (?:\w+ )?(?:{_THINGS})\b)"
    r"|\b(?:correct|valid|regular|balanced|well-formed|proper)\b|palindrom|anagram|symmetric|adjacency matrix"
    r"|\btriangles?\b|\bconvex\b|\bpolygons?\b|\bparallel\b|degenerate|collinear|\blies? inside\b"
    r"|\b(?:not|never) lie\b|intersect|overlap|\btouch|\bno cycles?\b|without cycles|acyclic"
    r"|\bsame (?:sum|parity|multiset|set|letters)\b|\bequal sums?\b|satisf(?:y|ies)|\bsuch that\b"
    r"|\b(?:names?|words?|strings?) (?:are|is) (?:all |pairwise )?(?:different|distinct|unique)\b"
    r"|\b(?:occurs?|appears?) (?:more|less) than (?!one\b|once)|\bmore than half\b|\bhh:mm\b|yyyy",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:it is|it's|its) guaranteed,? that\W*|you (?:may|can) assume,? that\W*", re.IGNORECASE)
_RULES = (_GUARANTEE, _SAID, _LESS, _FIXED, _PROPERTY)
_CASES = re.compile(r"\btest ?-?cases?\b|\btestcases?\b|\bdata ?sets?\b|\bsets of (?:input|data)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a statement: guarantees, bounds of sums, and whether an input has several cases.

    `ends` has bounds such as `1 ≤ l ≤ r ≤ n`: one number of an input does not exceed another one beside it.
    """

    sentences: tuple[str, ...] = ()
    sums: tuple[int, ...] = ()
    has_cases: bool = False
    ends: tuple[str, ...] = ()

    def unexplained(self, facts: Facts, given: Sequence[Numbers]) -> str:
        """Return the first rule that neither the facts have nor a property is, or an empty text.

        Args:
            facts: Of the given inputs.
            given: The numbers of each given input.
        """
        sentences = (each for each in self.sentences if not _is_kept(each, facts, given))
        ends = (each for each in self.ends if not _are_ordered(each, facts))
        return next(chain(sentences, ends), "")

    def kept(self, given: Sequence[Numbers]) -> list[Kept]:
        """Return the properties of numbers that made inputs have to keep.

        Args:
            given: The numbers of each given input.
        """
        return [kept for each in self.sentences for kept in kept_in(each, given)[0]]


def rules_of(statement: str) -> Rules:
    """Return the rules of a statement.

    Args:
        statement: Text of the problem.
    """
    text, about_input = parts_of(plain(statement))
    legend, about_input = (_NO_GUARANTEE.sub("", each) for each in (text.removesuffix(about_input), about_input))
    text, start = legend + about_input, len(legend)
    found = list(map(_on_one_line, _rules_in(text, start)))
    limits = [number_in(limit[1]) for each in found if _SUM.search(each) and (limit := _LIMIT.search(each))]
    sums = tuple(each for each in limits if each is not None)
    return Rules(tuple(found), sums, _CASES.search(text) is not None, tuple(_ends_in(text)))


def guarantees_in(statement: str) -> list[str]:
    """Return the guarantees about arguments of calls that are no bound, wherever the statement has them.

    Args:
        statement: Text of the problem.
    """
    nothing = Facts({}, (), frozenset(), {})
    return [each for each in map(_on_one_line, _guarantees(plain(statement))) if not _is_explained(each, nothing)]


def _guarantees(text: str) -> Iterator[str]:
    return (each for each in _SENTENCE.split(text) if _GUARANTEE.search(each) and not _CLAIM.search(each))


def _on_one_line(sentence: str) -> str:
    return " ".join(sentence.split())


def _rules_in(text: str, start: int) -> Iterator[str]:
    """Sentences that guarantee something, and those of the part about the input that name a structure."""
    yield from _guarantees(text[:start])
    for each in _SENTENCE.split(text[start:]):
        if any(rule.search(each) for rule in _RULES) or (_SUM.search(each) and _LIMIT.search(each)):
            yield each


def _ends_in(text: str) -> Iterator[str]:
    """Yield what says that the first of two ends does not exceed the second one: `l ≤ r`, `x_1 < x_2`."""
    for each in _ORDERED.finditer(text):
        left, right = each[1].lower(), each[2].lower()
        if left[0] + right[0] in _ENDS or (left[0] == right[0] and left != right):
            yield f"{each[1]} ≤ {each[2]}"


def _are_ordered(ends: str, facts: Facts) -> bool:
    """Return whether numbers in a line have an order; or those of a list, if that is of numbers with one name."""
    first = min(facts.rows, default=0)  # before repeated lines come sizes
    if any(each.sign != "!=" and min(each.left, each.right) >= first for each in facts.relations):
        return True
    return ends[0].lower() == ends.split()[-1][0].lower() and any(each.order for each in facts.slots.values())


def _is_kept(sentence: str, facts: Facts, given: Sequence[Numbers]) -> bool:
    """Return whether made inputs keep to a rule: it says a property of numbers, or facts have what is left of it."""
    kept, left = kept_in(sentence, given)
    if kept and (_NOTHING.fullmatch(left) or not any(rule.search(left) for rule in _RULES)):
        return True
    return _is_explained(left, facts)


def _is_explained(sentence: str, facts: Facts) -> bool:
    if _UNKNOWN.search(sentence) or _PROPERTY.search(sentence):
        return False
    rows, slots = facts.rows.values(), facts.slots.values()
    is_tree = any(each.tree for each in rows) or any(each.links or each.parents for each in slots)
    is_connected = is_tree or any(each.connected for each in rows)
    is_permutation = any(each.permutation for each in slots)
    are_distinct = (
        is_permutation or any(each.distinct or each.different for each in rows) or any(each.distinct for each in slots)
    )
    is_less = any(each.sign == "<" for each in facts.relations) or any(each.is_below or each.parents for each in slots)
    are_unequal = are_distinct or is_tree or is_less or any(each.sign == "!=" for each in facts.relations)
    is_sorted = any(each.order for each in slots) or any(each.sign != "!=" for each in facts.relations)
    topics = (
        (_SUM, _LIMIT.search(sentence) is not None),
        (_TREE, is_tree),
        (_CONNECTED, is_connected),
        (_OWN, any(each.links or each.parents for each in slots)),
        (_PERMUTATION, is_permutation),
        (_ONCE, are_distinct),
        (_UNEQUAL, are_unequal),
        (_LESS, is_less),
        (_FIXED, any(each.links and each.links.beside for each in slots)),
        (_SORTED, is_sorted),
        (_HARMLESS, True),
    )
    named = [holds for topic, holds in topics if topic.search(sentence)]
    return bool(named) and all(named)
