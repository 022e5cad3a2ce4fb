"""The built-in prelude `@leetcode`: the names that LeetCode's Python solutions use without importing them.

The names are collected once, in the warm zygote; a box gets a copy of the table (`namespace`), since fifteen star
imports would cost a run about a millisecond. The star imports are in the order of LeetCodeDataset's own preamble,
because they overlap (`pow` is math's). Nothing here recurses: lists of 100,000 nodes are legal.
"""

# ruff: noqa: F401, F403, F405, I001
# star imports are the purpose of this module

from __future__ import annotations

import collections as _collections
import datetime
import functools
import heapq
import itertools
import json
import math
import operator
import random
import re
import string
import typing
from typing import *
from functools import *
from collections import *
from itertools import *
from heapq import *
from bisect import *
from string import *
from operator import *
from math import *

collections = _collections


class ListNode:
    """A node of a singly linked list."""

    def __init__(self, val: Any = 0, next: ListNode | None = None) -> None:  # noqa: A002 (LeetCode's own name)
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val: Any = 0, left: TreeNode | None = None, right: TreeNode | None = None) -> None:
        self.val = val
        self.left = left
        self.right = right


def list_node(values: list[Any]) -> ListNode | None:
    """Return a linked list of the values, None if there are none.

    Args:
        values: the values in order.
    """
    head: ListNode | None = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def list_values(node: ListNode | None) -> list[Any]:
    """Return the values of a linked list.

    Args:
        node: the first node, or None.

    Raises:
        ValueError: the list has a cycle.
    """
    values: list[Any] = []
    seen: set[int] = set()
    while node is not None:
        if id(node) in seen:
            raise ValueError("a linked list with a cycle")
        seen.add(id(node))
        values.append(node.val)
        node = node.next
    return values


def is_same_list(p1: ListNode | None, p2: ListNode | None) -> bool:
    """Return True if two lists have equal values in the same order. At least one of them must end.

    Args:
        p1: one list.
        p2: the other list.
    """
    while p1 is not None and p2 is not None:
        if p1.val != p2.val:
            return False
        p1, p2 = p1.next, p2.next
    return p1 is None and p2 is None


def tree_node(values: list[Any]) -> TreeNode | None:
    """Return a tree from its values in level order: None for a missing child, nothing for a missing node's children.

    Args:
        values: the values.
    """
    if not values or values[0] is None:
        return None
    root = TreeNode(values[0])
    parents = _collections.deque([root])
    rest = iter(values[1:])
    for value in rest:
        parent = parents.popleft()
        parent.left = _child(value, parents)
        parent.right = _child(next(rest, None), parents)
        if not parents:
            break
    return root


def _child(value: Any, parents: deque[TreeNode]) -> TreeNode | None:
    if value is None:
        return None
    child = TreeNode(value)
    parents.append(child)
    return child


def tree_values(node: TreeNode | None) -> list[Any]:
    """Return the values of a tree in level order, without Nones at the end; the inverse of `tree_node`.

    Args:
        node: the root, or None.

    Raises:
        ValueError: a node is reached twice.
    """
    values: list[Any] = []
    seen: set[int] = set()
    queue = _collections.deque([node])
    while queue:
        current = queue.popleft()
        values.append(None if current is None else current.val)
        if current is None:
            continue
        if id(current) in seen:
            raise ValueError("not a tree: a node is reached twice")
        seen.add(id(current))
        queue += (current.left, current.right)
    while values and values[-1] is None:
        values.pop()
    return values


def is_same_tree(p: TreeNode | None, q: TreeNode | None) -> bool:
    """Return True if two trees have the same shape and equal values. At least one of them must be finite.

    Args:
        p: one tree.
        q: the other tree.
    """
    pairs = [(p, q)]
    while pairs:
        one, other = pairs.pop()
        if one is None and other is None:
            continue
        if one is None or other is None or one.val != other.val:
            return False
        pairs += ((one.left, other.left), (one.right, other.right))
    return True


SHARED = (ListNode, TreeNode)
"""The classes whose instances are sent by value."""


@functools.cache
def _names() -> dict[str, Any]:
    own = ("annotations", "namespace", "SHARED")
    return {name: value for name, value in globals().items() if name[0] != "_" and name not in own}


def namespace() -> dict[str, Any]:
    """Return a new table of the names that solutions and tests see."""
    return dict(_names())
