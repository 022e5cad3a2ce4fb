"""Recognises edge lists of graphs, and says which of their facts are rules.

Given inputs are few and small. Many of them are connected, have no more edges than nodes, or never name the last node.
None of this is a rule if the statement does not say so. The ends of edges go from the first node to the last one, whose
number is an earlier number of the input. Two things tell that lines are edges: the statement bounds two numbers by one
name, or it speaks of a graph and random ends would have such greatest ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sandbox_service.strengthen.bounds import NAME, RELATION
from sandbox_service.strengthen.facts import Facts, Relation, SlotFacts
from sandbox_service.strengthen.form import Item, Line, Numbers, Repeat, lines_in
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.rows import CHANCE, Rows
from sandbox_service.strengthen.sections import parts_of
from sandbox_service.strengthen.shapes import Keeps
from sandbox_service.validation.notation import plain

MOST_NUMBER = 10**18
# both ends of a line are nodes: `1 ≤ a_i, b_i ≤ n`, `1 ≤ u < v ≤ n`
_PAIR = re.compile(
    rf"(?P<low>[01])\s*{RELATION}\s*(?P<one>{NAME})\s*(?P<sign>,|{RELATION}|≠|!=)\s*(?P<other>{NAME})\s*"
    rf"(?P<to>{RELATION})\s*(?P<most>[A-Za-z])(?![\w_])"
)
_SIZES = frozenset("nmkqtNMKQT")  # names of single numbers,
_NODES = frozenset("nvNV")  # and those of numbers of nodes, which come first
_WORDS = re.compile(
    r"\b(?:graphs?|edges?|vert(?:ex|ices)|nodes?|roads?|cit(?:y|ies)|friends?|tunnels?|pipes?|bridges?|links?|cables?"
    r"|flights?|wires?|rails?|corridors?|passages?|connect\w*)\b",
    re.IGNORECASE,
)
# all nodes are connected, not only some: `from any city to any other`, `the graph is connected`
_ALL = r"(?:any|every|each|all)\b"
_CONNECTED = re.compile(
    r"connected (?:\w+ )?(?:graph|network|tree)|\bconnectivity\b|\balways (?:\w+ )?(?:path|way|route|possible)\b"
    r"|(?:is|are|be|stays?|remains?) (?:\w+ )?connected\b(?! (?:by|to|with|via|through))"
    rf"|\b(?:from|to|between|reach|visit)\w* {_ALL}|\b{_ALL} (?:\w+ ){{1,3}}(?:is|are|can be) (?:\w+ )?reach"
    r"|connected by (?:an? |some |one |exactly one )?(?:\w+ )?(?:path|sequence)",
    re.IGNORECASE,
)
_TREE = re.compile(r"\b(?:tree|forest|acyclic|cycles?)\b|n\s*[-−–]\s*1 (?:\w+ )?(?:edges|roads|lines)", re.IGNORECASE)
_GIVEN_TREE = re.compile(
    r"(?:given|is|are|forms?|has|have|as) (?:an? |the )?(?:\w+ ){0,2}(?:tree|forest)\b"
    r"|\bacyclic\b|\bno (?:\w+ )?cycles?\b|\bwithout (?:\w+ )?cycles?\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\bnot (?:\w+ )?(?:guarante\w+|necessar\w+|have to)|\bmay (?:\w+ )?not\b|\bdisconnected\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n")
_MAY = r"\b(?:can|may|might|could) (?:also )?(?:be|have|contain|exist)[^.;]*"
_DOUBLES = re.compile(_MAY + r"\b(?:multiple|parallel|multi-?|several) ?(?:edges|roads|pairs|lines)", re.IGNORECASE)
_LOOPS = re.compile(_MAY + r"\b(?:self-?)?loops?\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|not|cannot|can't|without|never)\b", re.IGNORECASE)
# the numbers of nodes and edges are in a relation: `m ≤ n`, `n - 1 ≤ m`, but not `m ≤ n(n-1)/2`
_TIED = re.compile(
    rf"(?<![\w.])n(?:\s*[-−–]\s*(?P<by>\d))?\s*{RELATION}\s*[me]\b"
    rf"|(?<![\w.])[me]\s*{RELATION}\s*(?:\d+\s*[·⋅*]?\s*)?n\b(?!\s*[(*·⋅×^²])",
    re.IGNORECASE,
)
_FEWEST = re.compile(rf"(?<![\w.])(\d+)\s*{RELATION}\s*[me]\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Graph:
    """An edge list of a form.

    Attributes:
        ends: The slots of the two ends.
        nodes: The slot with the number of nodes.
        edges: The slot with the number of edges.
        base: The first node.
        keeps: The rules of its graphs.
        is_tied: The number of edges has a relation to that of nodes.
        fewest: The least number of edges, if the statement says it.
        bounded: By place of further numbers of a line, slots of numbers that they never exceed.
    """

    ends: tuple[int, int]
    nodes: int
    edges: int
    base: int
    keeps: Keeps
    is_tied: bool = False
    fewest: int | None = None
    bounded: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def most(self, numbers: Numbers) -> dict[int, int]:
        """Return the greatest numbers at further places of a line after these numbers."""
        found = {at: [numbers[slot] for slot in slots if slot in numbers] for at, slots in self.bounded}
        return {at: min(each) for at, each in found.items() if each}


def graphs_of(items: Sequence[Item], facts: Facts, statement: str, *, has_rules: bool = False) -> list[Graph]:
    """Return the edge lists of a form that are no trees by their length.

    Args:
        items: The items of the form.
        facts: Of the given inputs.
        statement: Text of the problem.
        has_rules: The statement has rules that are not understood: nodes have no more edges than in given inputs.
    """
    text, about_input = parts_of(plain(statement))
    about_input = about_input or text
    found: list[Graph] = []
    lists = list(_lists(items, facts))
    pairs = [each for each in _PAIR.finditer(text) if _is_of_ends(each)]
    pairs = pairs if len(pairs) >= len(lists) else []
    for place, (length, line, rows) in enumerate(lists):
        counts = [*_beside(length, items), *(each.nodes for each in found), *_slots_before(line, items)]
        pair = pairs[place] if pairs else None
        first = _first_node(rows, [each for each in counts if each != length], pair, text)
        if first is None:
            continue
        keeps = _keeps(rows, text, about_input, has_rules=has_rules)
        if pair and _are_unequal(pair, text):
            keeps = replace(keeps, has_loops=False)
        fewest = _FEWEST.search(about_input)
        found.append(
            Graph(
                ends=(line.slots[0], line.slots[1]),
                nodes=first[0],
                edges=length,
                base=first[1],
                keeps=keeps,
                is_tied=_are_tied(about_input, keeps),
                fewest=int(fewest[1]) if fewest else None,
                bounded=rows.ends.columns if rows.ends else (),
            )
        )
    return found


def _beside(slot: int, items: Sequence[Item]) -> Sequence[int]:
    return next(line.slots for line in lines_in(items) if slot in line.slots)


def _slots_before(line: Line, items: Sequence[Item]) -> Iterator[int]:
    """The slots of the lines before this one, the nearest line first."""
    before = list(takewhile(lambda each: each != line, lines_in(items)))
    return (slot for each in reversed(before) for slot in each.slots)


def _lists(items: Sequence[Item], facts: Facts) -> Iterator[tuple[int, Line, Rows]]:
    """The repeated lines that begin with two numbers, and the slots that say how many there are."""
    for item in items:
        if not isinstance(item, Repeat):
            continue
        first, length = item.body[0], item.length
        is_plain = length is not None and length.factor == 1 and not length.offset and len(item.body) == 1
        if is_plain and isinstance(first, Line) and len(first.slots) > 1 and first.rest is None:
            rows = facts.rows.get(first.slots[0])
            if rows is not None and rows.ends is not None and length is not None:
                yield length.slot, first, rows
        yield from _lists(item.body, facts)


def _is_of_ends(pair: re.Match[str]) -> bool:
    one, other = pair["one"], pair["other"]
    return one != other and not {one, other} & _SIZES


def _are_unequal(pair: re.Match[str], text: str) -> bool:
    one, other = re.escape(pair["one"]), re.escape(pair["other"])
    return re.search(rf"(?<!\w){one}\s*(?:≠|!=|<|\\neq?)\s*{other}(?!\w)", text) is not None


def _first_node(rows: Rows, counts: Sequence[int], pair: re.Match[str] | None, text: str) -> tuple[int, int] | None:
    """The slot with the number of nodes, which is one of the counts, and the first node, if the lines are edges."""
    ends = rows.ends
    assert ends is not None
    chances = dict(zip(ends.bounds, ends.chances, strict=True))
    possible = list(dict.fromkeys(slot for slot in counts if slot in chances))
    if not possible or (pair and pair["most"] not in _NODES and len(possible) > 1):
        return None
    nodes = possible[0]
    if pair:
        base = int(pair["low"])
    elif _WORDS.search(text) and chances[nodes] >= CHANCE and (nodes in ends.reached or not ends.low):
        base = min(ends.low, 1)
    else:
        return None
    if ends.low < base or (not base and nodes in ends.reached):
        return None
    return nodes, base


def _keeps(rows: Rows, text: str, about_input: str, *, has_rules: bool) -> Keeps:
    """The rules of the graphs: what is seen, and chance does not explain or the statement says."""
    ends = rows.ends
    assert ends is not None
    sentences = [each for each in _SENTENCE.split(text) if not _NOT.search(each)]
    says_tree = _TREE.search(about_input) is not None or any(_GIVEN_TREE.search(each) for each in sentences)
    says_connected = any(_CONNECTED.search(each) for each in sentences)
    is_connected = rows.tree or rows.connected
    is_certain = rows.connected and rows.is_certain
    has_doubles = ends.has_doubles or _is_allowed(_DOUBLES, text)
    return Keeps(
        is_connected=is_connected and (is_certain or says_connected or says_tree),
        is_forest=ends.is_forest and says_tree,
        is_acyclic=ends.is_acyclic and says_tree,
        has_doubles=has_doubles,
        has_copies=has_doubles and (ends.has_copies or not rows.different),
        has_loops=ends.has_loops or _is_allowed(_LOOPS, text),
        most_degree=ends.degree if has_rules else 0,
    )


def _is_allowed(said: re.Pattern[str], text: str) -> bool:
    return any(not _NO.search(each[0]) for each in said.finditer(text))


def _are_tied(about_input: str, keeps: Keeps) -> bool:
    """Return whether the numbers of nodes and edges have a relation that connected graphs do not have by themselves."""
    return any(not (each["by"] and keeps.is_connected) for each in _TIED.finditer(about_input))


# --- what is made


def facts_with(facts: Facts, graphs: Sequence[Graph]) -> Facts:
    """Return the facts of inputs with these graphs, without those that only their given edges have.

    Args:
        facts: Of the given inputs.
        graphs: The edge lists.
    """
    slots, rows, relations = dict(facts.slots), dict(facts.rows), list(facts.relations)
    for each in graphs:
        for end in each.ends:
            slots[end] = _of_end(slots[end], each)
        if not each.is_tied:
            slots[each.edges] = _without(slots[each.edges], each.nodes)
            slots[each.nodes] = _without(slots[each.nodes], each.edges)
        relations = [relation for relation in relations if _is_kept(relation, each)]
        seen = rows[each.ends[0]]
        rows[each.ends[0]] = replace(
            seen,
            tree=False,
            nodes=each.nodes,
            connected=each.keeps.is_connected,
            is_certain=True,
            distinct=not (each.keeps.has_doubles or each.keeps.has_loops),
        )
    lengths = facts.lengths | {each.nodes for each in graphs}
    return replace(facts, slots=slots, rows=rows, relations=tuple(relations), lengths=lengths)


def _of_end(facts: SlotFacts, graph: Graph) -> SlotFacts:
    return replace(
        facts,
        at_most=graph.nodes,
        is_below=not graph.base,
        parents=False,
        links=None,
        has_marker=False,
        certain=facts.certain | {"at_most"},
    )


def _without(facts: SlotFacts, bound: int) -> SlotFacts:
    return replace(facts, at_most=None, is_below=False) if facts.at_most == bound else facts


def _is_kept(relation: Relation, graph: Graph) -> bool:
    """Return whether a relation is one of the two ends, or of other numbers."""
    slots = {relation.left, relation.right}
    if slots == {graph.nodes, graph.edges}:
        return graph.is_tied
    if slots == set(graph.ends):
        return not (relation.sign == "!=" and graph.keeps.has_loops)
    return not slots & set(graph.ends)


def ranges_with(ranges: Mapping[int, Range], graphs: Sequence[Graph], stated: Mapping[int, Range]) -> dict[int, Range]:
    """Return the ranges of inputs with these graphs: ends are any nodes, and edges as many as there may be.

    Args:
        ranges: As they are without graphs.
        graphs: The edge lists.
        stated: The ranges before they were made small.
    """
    found = dict(ranges)
    for each in graphs:
        for end in each.ends:
            found[end] = Range(each.base, MOST_NUMBER)
        edges = stated[each.edges]
        if edges.is_stated or each.is_tied:
            found[each.edges] = edges
        else:
            fewest = edges.low if each.fewest is None else min(each.fewest, edges.low)
            found[each.edges] = Range(fewest, MOST_NUMBER)
    return found
