"""Final standings of Codeforces' contests: kept in a file, fetched once.

    {"1999": {"name": "…", "problems": {"A": 500, "B": null, …}, "participants": [[rating, points, penalty], …]}, …}

`problems` has the points of each, or null where they are counted. `participants` are the official ones whom the
contest was rated for, with their rating before it. The service's API is public and asks for no more than one request
in two seconds. It was not asked here: the tests have a stand-in.
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

from trainer.errors import Away, ConfigError
from trainer.evaluation.journal import replaced
from trainer.evaluation.rating import Contest, Participant

API = "https://codeforces.com/api"
REQUEST_SECONDS = 2.0  # from one to the next: the API's own rule
ANSWER_SECONDS = 120.0
TRIES = 4


def read(path: Path) -> dict[int, Contest]:
    """The contests that are in a file; none if there is no file. Raises ConfigError."""
    if not path.exists():
        return {}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return {int(number): _contest(int(number), contest) for number, contest in said.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as trouble:
        raise ConfigError(f"{path}: no standings: {type(trouble).__name__}: {trouble}") from None


def fetch(
    path: Path, wanted: Iterable[int], api: str = API, notice: Callable[[str], None] = print
) -> dict[int, Contest]:
    """Bring a file to all contests that are wanted, contest by contest. Raises Away if the API does not answer.

    What the API refuses (a contest that was never rated, say) is said and left out.
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
    """From two answers: who was there, and what they were rated before."""
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
    """What it answers. Raises ConfigError for a refusal, Away if there is none."""
    request = Request(f"{api}/{method}?{urlencode(question)}", headers={"User-Agent": "proctor"})  # noqa: S310
    reason = ""
    for tried in range(TRIES):
        time.sleep(REQUEST_SECONDS * (2**tried if reason else 1))
        try:
            with urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - the address is the caller's
                return _result(answer.read())
        except HTTPError as trouble:
            body = trouble.read()
            if trouble.code == 400:  # a refusal, in JSON
                return _result(body)
            reason = f"{trouble.code} {body[:200].decode(errors='replace')}"
        except OSError as trouble:
            reason = str(trouble)
    raise Away(f"{api} does not answer: {reason}")


def _result(body: bytes) -> Any:
    try:
        said = json.loads(body)
    except ValueError:
        raise Away(f"the API answers no JSON: {body[:200].decode(errors='replace')}") from None
    if said.get("status") != "OK":
        raise ConfigError(str(said.get("comment", said)))
    return said["result"]


def _contest(number: int, said: Mapping[str, Any]) -> Contest:
    participants = [Participant(*map(float, each)) for each in said["participants"]]
    return Contest(number, str(said["name"]), dict(said["problems"]), participants)


def _write(path: Path, contests: Mapping[int, Contest]) -> None:
    said = {
        str(number): {
            "name": contest.name,
            "problems": dict(contest.problems),
            "participants": [[each.rating, each.points, each.penalty] for each in contest.participants],
        }
        for number, contest in sorted(contests.items())
    }
    with replaced(path) as file:
        json.dump(said, file)
