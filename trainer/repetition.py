"""Measures repetition within a response, which shows degenerate generation before the reward does.

After the monitoring of Archer2.0 (arXiv 2510.06062), computed over token ids instead of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SPAN = 20
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_BASE = 0x5851F42D4C957F2D  # odd, so that its powers are invertible modulo 2^64


def repetition(ids: Sequence[int], span: int = SPAN) -> float:
    """Return the share of windows of `span` tokens that occurred earlier in the response, in [0, 1).

    A response of T tokens has n = T - span + 1 overlapping windows; with d distinct ones the result is (n - d) / n, and
    0 for n < 2. Windows are compared by 64-bit hashes: for 32,768 tokens, one false match in 30 billion responses.

    Args:
        ids: The response's token ids.
        span: The window's length in tokens.
    """
    windows = len(ids) - span + 1
    if windows < 2:
        return 0.0
    hashes = _window_hashes(np.asarray(ids, dtype=np.uint64), span)
    hashes.sort()
    distinct = 1 + int(np.count_nonzero(hashes[1:] != hashes[:-1]))
    return (windows - distinct) / windows


def _window_hashes(ids: NDArray[np.uint64], span: int) -> NDArray[np.uint64]:
    """Return the polynomial hashes modulo 2^64 of all windows: [T] → [T - span + 1]."""
    scattered = _scatter(ids)
    count = len(ids) - span + 1
    hashes = np.zeros(count, dtype=np.uint64)
    for place in range(span):
        hashes += scattered[place : place + count] * np.uint64(pow(_BASE, place, 1 << 64))
    return _scatter(hashes)


def _scatter(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the splitmix64 finaliser of each value (Steele et al. 2014)."""
    values = values + _MIX[0]
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    return values ^ (values >> np.uint64(31))
