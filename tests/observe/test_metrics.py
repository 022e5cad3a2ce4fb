"""The histograms of the metrics."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

import pytest

from sandbox_service.observe.metrics import SECONDS, Histogram


@pytest.mark.parametrize(
    "seconds", [[], [0.0], [0.001], [0.0011, 0.001, 0.5], [1000.0], [0.2, 1000.0, 300.0, 0.2, 31.0]]
)
def test_each_value_is_counted_in_the_bucket_of_its_bound(seconds: list[float]) -> None:
    histogram = Histogram()
    for part in (seconds[:1], seconds[1:], seconds):
        histogram.add(part)
    counts = [0] * (len(SECONDS) + 1)
    for each in seconds:
        counts[bisect_left(SECONDS, each)] += 2
    assert [count for _, count in histogram.buckets()] == list(accumulate(counts))
    assert histogram.sum == pytest.approx(2 * sum(seconds))
