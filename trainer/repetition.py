"""Measures repetition within a response, which shows degenerate generation before the reward does.

After the monitoring of Archer2.0 (arXiv 2510.06062), computed over token ids instead of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SPAN = 20


def repetition(ids: Sequence[int], span: int = SPAN) -> float:
    """Return the share of windows of `span` tokens (ids) that occurred earlier in the response, in [0, 1).

    A response of T tokens has n = T - span + 1 overlapping windows; with d distinct ones the result is (n - d) / n, and
    0 for n < 2.
    """
    windows = len(ids) - span + 1
    if windows < 2:
        return 0.0
    tokens = np.asarray(ids, dtype=np.uint32)
    data, size = tokens.tobytes(), tokens.itemsize
    distinct = {data[place * size : (place + span) * size] for place in range(windows)}
    return (windows - len(distinct)) / windows
