"""Tests of estimators, interval coverage and reproducibility of figures."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean

import pytest

from trainer.data import Problem
from trainer.evaluation.grading import Verdict
from trainer.evaluation.interval import estimate
from trainer.evaluation.passk import pass_at_k
from trainer.evaluation.results import Results, fault_share, figures, groups, summary
from trainer.evaluation.samples import Sample


def published(n: int, c: int, k: int) -> Fraction:
    """Chen et al. 2021, equation 1, with binomial coefficients and no rounding."""
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def test_pass_at_k_is_the_published_estimator_on_1000_random_tables() -> None:
    rng = random.Random(0)
    for _ in range(1000):
        n = rng.randint(1, 256)
        k = rng.randint(1, n)
        table = [rng.randint(0, n) for _ in range(rng.randint(1, 40))]
        ours = [pass_at_k(n, c, k) for c in table]
        assert ours == pytest.approx([float(published(n, c, k)) for c in table], abs=1e-12)
        assert fmean(ours) == pytest.approx(float(sum(published(n, c, k) for c in table) / len(table)), abs=1e-12)


def test_pass_at_k_is_what_drawing_k_of_n_gives() -> None:
    rng = random.Random(1)
    right = [True] * 3 + [False] * 7
    drawn = fmean(any(rng.sample(right, 4)) for _ in range(20_000))
    assert pass_at_k(10, 3, 4) == pytest.approx(drawn, abs=0.01)


def test_pass_at_one_is_the_share_and_pass_at_n_is_any() -> None:
    assert pass_at_k(8, 3, 1) == pytest.approx(3 / 8)
    assert [pass_at_k(8, c, 8) for c in (0, 1, 8)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(("n", "c", "k"), [(4, 2, 5), (0, 0, 1), (4, 5, 1), (4, 2, 0), (4, -1, 1)])
def test_there_is_no_pass_at_k_of_what_cannot_be(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="no pass@"):
        pass_at_k(n, c, k)


# --- intervals


@pytest.mark.parametrize(
    ("problems", "n", "easy", "hard"),
    [(164, 1, 9, 1), (164, 8, 0.3, 0.3), (30, 1, 1, 3), (30, 8, 20, 0.5), (20, 4, 1, 30), (131, 16, 0.2, 2)],
)
def test_of_100_intervals_95_hold_the_truth(problems: int, n: int, easy: float, hard: float) -> None:
    """Of models whose problems are as hard as a beta distribution says: many or few, most solved or hardly any."""
    rng = random.Random(3)
    truth, held, repeats = easy / (easy + hard), 0, 1000
    for _ in range(repeats):
        shares = [rng.betavariate(easy, hard) for _ in range(problems)]
        scores = [sum(rng.random() < share for _ in range(n)) / n for share in shares]
        found = estimate(scores, problems * n)
        assert found is not None
        held += found.low <= truth <= found.high
    assert 0.925 <= held / repeats <= 0.985


def test_an_interval_is_never_a_point_and_never_beyond_0_and_1() -> None:
    for scores in ([1.0] * 164, [0.0] * 30, [0.5] * 10, [1.0], [1.0] * 29 + [0.0], [0.25, 0.25]):
        found = estimate(scores, 8 * len(scores))
        assert found is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high - found.low > 0.01


def test_samples_of_one_problem_do_not_count_as_independent() -> None:
    """Eight samples that are all alike say no more than one."""
    one = estimate([1.0] * 30 + [0.0] * 30, 60)
    eight = estimate([1.0] * 30 + [0.0] * 30, 480)
    assert one is not None
    assert eight is not None
    assert (eight.low, eight.high) == pytest.approx((one.low, one.high), abs=1e-3)


def test_the_standard_error_is_that_of_the_mean_over_problems() -> None:
    found = estimate([0.0, 0.5, 1.0, 0.5], 32)
    assert found is not None
    assert found.error == pytest.approx(math.sqrt((0.25 + 0.25) / 3 / 4))  # Σ(s - ½)² / (N - 1), over N


def test_of_nothing_there_is_no_figure() -> None:
    assert estimate([], 0) is None


# --- results


def problem(name: str, **meta: object) -> Problem:
    return Problem(
        name, [{"role": "user", "content": "?"}], "?", {"tests": []}, str(meta.pop("source", "s")), "f:1", meta
    )


def results(*rows: Sequence[str], n: int | None = None, **sample: object) -> Results:
    """A row of verdicts for each problem a, b, c …; "" is a sample that is not graded."""
    made = Results([problem(chr(97 + place)) for place in range(len(rows))], n or max(map(len, rows)))
    for place, row in enumerate(rows):
        for number, verdict in enumerate(row):
            name = chr(97 + place)
            made.add(
                Sample(name, number, "", **sample),  # type: ignore[arg-type]
                Verdict(name, number, verdict, "w") if verdict else None,
            )
    return made


def test_figures_are_those_of_a_table_by_hand() -> None:
    found = figures(results(["AC", "WA", "AC", "TLE"], ["WA", "WA", "WA", "CE"]).all, [1, 2, 4])
    assert found.mean is not None
    assert found.mean.value == pytest.approx(2 / 8)
    values = [each.value for each in found.pass_at.values() if each]
    # a: c = 2 of 4, so pass@2 = 1 - C(2,2)/C(4,2) = 1 - 1/6, and pass@4 = 1; b: 0
    assert values == pytest.approx([0.25, (5 / 6) / 2, 0.5])


def test_a_sample_without_a_verdict_is_no_failure() -> None:
    made = results(["AC", "IE", "IE", "AC"], ["WA", "AC", "WA", "AC"])
    assert [(each.n, each.c, each.faults) for each in made.all] == [(2, 2, 2), (4, 2, 0)]
    told = summary(made, [1, 4])
    assert told["avg"]["value"] == pytest.approx((1.0 + 0.5) / 2), "the mean over problems of their shares"
    assert told["pass"]["4"]["n"] == 1, "a problem with two samples has no pass@4"
    assert told["faults"] == 2
    assert fault_share(made) == pytest.approx(2 / 8)


def test_a_problem_without_any_verdict_is_in_no_mean_and_named() -> None:
    told = summary(results(["IE", "IE"], ["AC", "WA"]), [1])
    assert told["avg"]["value"] == 0.5
    assert told["without_verdict"] == {"problems": 1, "first": ["a"]}


def test_what_is_not_there_is_counted_and_no_failure() -> None:
    told = summary(results(["AC", ""], ["AC"], n=4), [1])
    assert told["avg"]["value"] == 1.0
    assert told["missing"] == 6
    assert told["samples"] == 2


def test_a_sample_that_is_there_twice_counts_once() -> None:
    made = results(["WA"], n=2)
    made.add(Sample("a", 0, "other"), Verdict("a", 0, "AC", "w"))
    made.add(Sample("strange", 0, ""), Verdict("strange", 0, "AC", "w"))
    made.add(Sample("a", 2, ""), Verdict("a", 2, "AC", "w"))
    assert [(each.n, each.c) for each in made.all] == [(1, 0)]


def test_length_and_what_was_cut() -> None:
    told = summary(results(["AC", "WA"], ["AC", "AC"], finish="length", tokens=10), [1])
    assert (told["cut"], told["tokens"]) == (1.0, 10.0)


def test_groups_are_by_source_difficulty_and_platform_and_easy_comes_first() -> None:
    asked = [
        problem("a", difficulty="hard", platform="x"),
        problem("b", difficulty="easy", platform="x"),
        problem("c", difficulty="medium", platform="x"),
        problem("d", platform="x"),
    ]
    made = groups(Results(asked, 1).all)
    assert list(made) == ["difficulty"], "the others are all the same"
    assert list(made["difficulty"]) == ["easy", "medium", "hard", "?"]
    rated = groups(
        Results([problem("a", difficulty=1200), problem("b", difficulty=800), problem("c", difficulty=1599)], 1).all
    )
    assert {name: len(some) for name, some in rated["difficulty"].items()} == {"800–1199": 1, "1200–1599": 2}


def test_the_same_samples_give_the_same_figures_to_the_last_bit() -> None:
    rng = random.Random(5)
    rows = [[rng.choice(["AC", "WA", "IE"]) for _ in range(8)] for _ in range(50)]
    assert json.dumps(summary(results(*rows), [1, 8])) == json.dumps(summary(results(*rows), [1, 8]))
