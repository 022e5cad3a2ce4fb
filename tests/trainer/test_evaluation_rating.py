"""Tests of the Codeforces rating against calculations by hand, and of fetched standings."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from trainer.errors import ConfigError, UnavailableError
from trainer.evaluation import standings
from trainer.evaluation.rating import Contest, Participant, expected_rank, place, rank_of, rate, rating_at, score_of

Samples = list[bool | None]

NEVER: Samples = [False] * 8


def tried(wrong: int, of: int = 8) -> Samples:
    """So many wrong ones, then a right one, then chance."""
    made: Samples = [*[False] * wrong, True, *[False, True] * of]
    return made[:of]


def people(count: int, rating: float, points: float, penalty: float = 0.0) -> list[Participant]:
    return [Participant(rating, points, penalty)] * count


#   A (500 points): the third sample is the first that is right:     500 - 50·2 =  400
#   B (1000): the first one is right:                               1000 - 50·0 = 1000
#   C (1500): none is right:                                                         0
#                                                             score               1400
#   100 people rated 2000 have 2000 points and are before it, 100 rated 1200 have 900: it is the 101st.
#   At r = 1600 the expected place is 1 + 100 / (1 + 10^((1600 - 2000) / 400)) + 100 / (1 + 10^((1600 - 1200) / 400))
#                                   = 1 + 100 / (1 + 1/10)                     + 100 / (1 + 10)
#                                   = 1 + 1000/11 + 100/11 = 101.          So it is rated 1600.
POINTS = Contest(1, "points", {"A": 500, "B": 1000, "C": 1500}, [*people(100, 2000, 2000), *people(100, 1200, 900)])
POINTS_TRIES: dict[str, Samples] = {"A": tried(2), "B": tried(0), "C": NEVER}

#   Counted: A after one wrong sample (penalty 10), B at once: 2 problems, penalty 10.
#   60 people have 3 problems, 120 have 2 with penalty 5, 20 have 2 with penalty 50: it is the 181st.
#   All are rated 1500:  1 + 200 / (1 + 10^((r - 1500) / 400)) = 181   ⇔   10^((r - 1500) / 400) = 200/180 - 1 = 1/9
#   r = 1500 - 400·log10(9) = 1500 - 400·0.954243 = 1118.303
COUNTED = Contest(
    2, "counted", {"A": None, "B": None}, [*people(60, 1500, 3, 99), *people(120, 1500, 2, 5), *people(20, 1500, 2, 50)]
)
COUNTED_TRIES: dict[str, Samples] = {"A": tried(1), "B": tried(0)}


def test_a_contest_with_points_by_hand() -> None:
    assert score_of(POINTS_TRIES, POINTS) == (1400.0, 0.0)
    found = place(POINTS_TRIES, POINTS)
    assert (found.rank, found.score, found.asked, found.problems) == (101, 1400.0, 3, 3)
    assert found.rating == pytest.approx(1600.0, abs=0.01)


def test_a_contest_in_which_problems_are_counted_by_hand() -> None:
    assert score_of(COUNTED_TRIES, COUNTED) == (2.0, 10.0)
    found = place(COUNTED_TRIES, COUNTED)
    assert found.rank == 181
    assert found.rating == pytest.approx(1118.303, abs=0.01)


def test_the_rating_is_the_mean_over_contests() -> None:
    found = rate({1: POINTS_TRIES, 2: COUNTED_TRIES}, {1: POINTS, 2: COUNTED})
    assert found.value == pytest.approx((1600 + 1118.303) / 2, abs=0.01)
    # two contests: the standard error of their mean is half their difference
    assert found.error == pytest.approx((1600 - 1118.303) / 2, abs=0.01)


def test_who_wins_is_at_most_100_above_the_best_and_who_solves_nothing_at_least_0() -> None:
    assert rating_at(1, [1500.0] * 300) == pytest.approx(1600, abs=0.01)
    assert rating_at(301, [100.0] * 300) == pytest.approx(0, abs=0.01)


def test_the_expected_rank_at_the_rating_is_the_rank() -> None:
    ratings = [800.0 + 7 * each for each in range(300)]
    for rank in (20, 50, 299):
        assert expected_rank(rating_at(rank, ratings), ratings) == pytest.approx(rank, abs=1e-3)


def test_as_good_as_others_is_their_rank() -> None:
    assert rank_of(5, 10, [*people(3, 0, 6), *people(4, 0, 5, 10), *people(2, 0, 5, 11)]) == 4


def test_many_wrong_samples_cost_no_more_than_the_problem_gives() -> None:
    assert score_of({"A": tried(12, of=20)}, POINTS) == (0.0, 0.0)


def test_a_sample_without_a_verdict_is_no_try() -> None:
    assert score_of({"A": [None, False, None, True]}, POINTS) == (450.0, 0.0)


def test_contests_that_cannot_be_used_are_left_out_and_named() -> None:
    few = Contest(3, "few", {"A": 500}, people(199, 1500, 100))
    tries: dict[int, dict[str, Samples]] = {1: POINTS_TRIES, 3: {"A": NEVER}, 4: {"A": NEVER}, 5: {"Z": NEVER}}
    found = rate(tries, {1: POINTS, 3: few, 5: POINTS})
    assert [each.contest for each in found.places] == [1]
    assert found.left_out == {
        3: "199 rated official participants, fewer than 200",
        4: "no standings",
        5: "problems that it does not have: Z",
    }
    assert found.error is None


def test_without_any_contest_there_is_no_rating() -> None:
    assert rate({4: {"A": NEVER}}, {}).value is None


# --- standings


class Api(BaseHTTPRequestHandler):
    """Codeforces', with one contest, and one that was never rated."""

    asked: list[str] = []  # noqa: RUF012
    busy = 0

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.asked.append(self.path)
        if Api.busy:
            Api.busy -= 1
            self._answer(503, "<html>later</html>")
        elif parse_qs(parts.query)["contestId"] != ["1"]:
            self._answer(400, {"status": "FAILED", "comment": "contestId: not found"})
        elif parts.path.endswith("ratingChanges"):
            self._answer(200, {"status": "OK", "result": [{"handle": "ann", "oldRating": 1700, "newRating": 1800}]})
        else:
            self._answer(200, {"status": "OK", "result": STANDINGS})

    def _answer(self, status: int, said: Any) -> None:
        body = (said if isinstance(said, str) else json.dumps(said)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


STANDINGS = {
    "contest": {"name": "Round 1", "type": "CF"},
    "problems": [{"index": "A", "points": 500.0}, {"index": "B1", "points": 750.0}],
    "rows": [
        {"party": {"members": [{"handle": "ann"}]}, "points": 1100.0, "penalty": 0},
        {"party": {"members": [{"handle": "not rated"}]}, "points": 1200.0, "penalty": 0},
    ],
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(standings, "REQUEST_SECONDS", 0.0)
    Api.asked, Api.busy = [], 0
    with HTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()
        thread.join()


def test_standings_are_fetched_once_and_kept(api: str, tmp_path: Path) -> None:
    path, notices = tmp_path / "standings.json", list[str]()
    found = standings.fetch(path, [1, 7], api, notices.append)
    assert found == {1: Contest(1, "Round 1", {"A": 500.0, "B1": 750.0}, [Participant(1700, 1100, 0)])}
    assert notices == ["contest 1: 1 participants (1 of 2)", "contest 7: contestId: not found"]
    assert Api.asked[0] == "/api/contest.standings?contestId=1&showUnofficial=false"
    Api.asked = []
    assert standings.fetch(path, [1], api) == found == standings.read(path)
    assert Api.asked == []


def test_a_busy_api_is_asked_again_and_one_that_is_away_is_an_error(api: str, tmp_path: Path) -> None:
    Api.busy = 2
    assert list(standings.fetch(tmp_path / "a.json", [1], api, lambda _: None)) == [1]
    Api.busy = 99
    with pytest.raises(UnavailableError, match="does not answer: 503"):
        standings.fetch(tmp_path / "b.json", [1], api)


def test_where_problems_are_counted_they_have_no_points(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STANDINGS["contest"], "type", "ICPC")  # type: ignore[arg-type]
    (contest,) = standings.fetch(tmp_path / "s.json", [1], api, lambda _: None).values()
    assert contest.is_counted


def test_standings_that_are_none_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "s.json").write_text('{"1": {"name": "x"}}')
    with pytest.raises(ConfigError, match=r"s\.json: no standings: KeyError"):
        standings.read(path)
    assert standings.read(tmp_path / "none.json") == {}
