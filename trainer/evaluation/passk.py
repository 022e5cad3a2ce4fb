"""pass@k: the probability that at least one of k samples is right, estimated from n samples of which c are."""

from __future__ import annotations

from math import prod


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate 1 - C(n-c, k) / C(n, k), as a product that does not overflow.

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv 2107.03374, equation 1.

    Args:
        n: The number of samples.
        c: How many of them are right.
        k: The number of samples to draw.

    Raises:
        ValueError: There are fewer than k samples.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"no pass@{k} from {c} of {n} samples")
    if k == 1:
        return c / n  # the same value, without n roundings
    if n - c < k:
        return 1.0
    return 1.0 - prod(1.0 - k / each for each in range(n - c + 1, n + 1))
