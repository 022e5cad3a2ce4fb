"""How much of a response is said again: a model that goes in circles shows here before it shows in the reward.

The idea is Archer2.0's monitoring (arXiv 2510.06062); this is its ratio over token ids in place of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SPAN = 20
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_BASE = 0x5851F42D4C957F2D  # odd, so that no power of it vanishes


def repetition(ids: Sequence[int], span: int = SPAN) -> float:
    """The share of windows of `span` tokens that stood somewhere before in the same response: from 0 to almost 1.

    T tokens have n = T - span + 1 windows, overlapping; with d distinct ones among them it is (n - d) / n, and 0 if
    there is none. Windows are told apart by 64-bit hashes: for 32,768 tokens one false match in 30 billion responses.
    """
    windows = len(ids) - span + 1
    if windows < 2:
        return 0.0
    hashes = _window_hashes(np.asarray(ids, dtype=np.uint64), span)
    hashes.sort()
    distinct = 1 + int(np.count_nonzero(hashes[1:] != hashes[:-1]))
    return (windows - distinct) / windows


def _window_hashes(ids: NDArray[np.uint64], span: int) -> NDArray[np.uint64]:
    """[T] → [T - span + 1]: a polynomial in each window's scattered ids, modulo 2^64."""
    scattered = _scatter(ids)
    count = len(ids) - span + 1
    hashes = np.zeros(count, dtype=np.uint64)
    for place in range(span):
        hashes += scattered[place : place + count] * np.uint64(pow(_BASE, place, 1 << 64))
    return _scatter(hashes)


def _scatter(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Neighbouring numbers far apart: the finaliser of splitmix64 (Steele et al. 2014)."""
    values = values + _MIX[0]
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    return values ^ (values >> np.uint64(31))
