"""Final standings of Codeforces contests, fetched once and cached in a file.

    {"1999": {"name": "…", "problems": {"A": 500, "B": null, …}, "participants": [[rating, points, penalty], …]}, …}

`problems` maps to points, or null in contests that count solved problems. `participants` are the official participants
for whom the contest was rated, with their rating before it. The public API allows one request in two seconds. It was
not called by the tests, which use a stand-in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from trainer.errors import ConfigError, UnavailableError
from trainer.evaluation.jsonl import atomic_write
from trainer.evaluation.rating import Contest, Participant

API = "https://codeforces.com/api"
REQUEST_SECONDS = 2.0  # between requests, as the API's rules demand
ANSWER_SECONDS = 120.0
TRIES = 4


def read(path: Path) -> dict[int, Contest]:
    """Read a file of standings.

    Args:
        path: The file; if it is missing, the result is empty.

    Returns:
        Contests by id.

    Raises:
        ConfigError: The file is invalid.
    """
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {int(number): _contest(int(number), contest) for number, contest in data.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: no standings: {type(error).__name__}: {error}") from None


def fetch(
    path: Path, wanted: Iterable[int], api: str = API, notice: Callable[[str], None] = print
) -> dict[int, Contest]:
    """Add the missing contests to a file, one at a time. Contests that the API refuses (unrated ones, say) are
    reported.

    Args:
        path: The file.
        wanted: The ids of contests.
        api: The API's URL.
        notice: Receives a line for each contest.

    Returns:
        Contests by id.

    Raises:
        UnavailableError: The API does not answer.
    """
    known = read(path)
    missing = sorted(set(wanted) - set(known))
    for done, number in enumerate(missing, 1):
        try:
            known[number] = _fetched(number, api)
        except ConfigError as refusal:
            notice(f"contest {number}: {refusal}")
            continue
        _write(path, known)
        notice(f"contest {number}: {len(known[number].participants)} participants ({done} of {len(missing)})")
    return known


def _fetched(number: int, api: str) -> Contest:
    """Combine the API's standings and rating changes."""
    standings = _ask(api, "contest.standings", {"contestId": number, "showUnofficial": "false"})
    before = {each["handle"]: each["oldRating"] for each in _ask(api, "contest.ratingChanges", {"contestId": number})}
    is_counted = standings["contest"].get("type") != "CF"
    problems = {each["index"]: None if is_counted else each.get("points") for each in standings["problems"]}
    participants = [
        Participant(float(before[handle]), float(row["points"]), float(row["penalty"]))
        for row in standings["rows"]
        if (handle := row["party"]["members"][0]["handle"]) in before
    ]
    return Contest(number, str(standings["contest"]["name"]), problems, participants)


def _ask(api: str, method: str, question: Mapping[str, Any]) -> Any:
    """Call the API. Raises ConfigError if it refuses, UnavailableError if it does not answer."""
    request = Request(f"{api}/{method}?{urlencode(question)}", headers={"User-Agent": "proctor"})  # noqa: S310
    reason = ""
    for tried in range(TRIES):
        time.sleep(REQUEST_SECONDS * (2**tried if reason else 1))
        try:
            with urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - the address is the caller's
                return _result(answer.read())
        except HTTPError as error:
            body = error.read()
            if error.code == 400:  # a JSON error
                return _result(body)
            reason = f"{error.code} {body[:200].decode(errors='replace')}"
        except OSError as error:
            reason = str(error)
    raise UnavailableError(f"{api} does not answer: {reason}")


def _result(body: bytes) -> Any:
    try:
        data = json.loads(body)
    except ValueError:
        raise UnavailableError(f"the API answers no JSON: {body[:200].decode(errors='replace')}") from None
    if data.get("status") != "OK":
        raise ConfigError(str(data.get("comment", data)))
    return data["result"]


def _contest(number: int, data: Mapping[str, Any]) -> Contest:
    participants = [Participant(*map(float, each)) for each in data["participants"]]
    return Contest(number, str(data["name"]), dict(data["problems"]), participants)


def _write(path: Path, contests: Mapping[int, Contest]) -> None:
    data = {
        str(number): {
            "name": contest.name,
            "problems": dict(contest.problems),
            "participants": [[each.rating, each.points, each.penalty] for each in contest.participants],
        }
        for number, contest in sorted(contests.items())
    }
    with atomic_write(path) as file:
        json.dump(data, file)
