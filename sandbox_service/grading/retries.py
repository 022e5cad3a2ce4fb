"""The retry policy: the failures that are retried, by which component, and how often.

Each kind is retried by exactly one component, so attempts do not multiply: a failure that the pool has retried is final
for the queue and for the HTTP routes. A kind that this version does not know is final.

| retried by | kinds | at most |
|---|---|---|
| the slot pool of a machine (slots/pool.py); the ledger counts workers that were lost | `POOL` | `MOST_ATTEMPTS` |
| the fleet's queue, which has the suite (fleet/queue.py) | `QUEUE` | `MOST_RESENDS` more submissions |
| routes whose clients do not retry (api/compat/held_grading.py) | `ROUTES` | `MOST_SUBMISSIONS` |
| no component | `FINAL` | |

An attempt is a start in a slot process. A submission has at most `MOST_ATTEMPTS`, as long as no worker of a fleet is
lost. Each lost worker counts as one attempt, however often the submission was started there, so with
`MOST_ATTEMPTS` = 3 at most 3 + 2 + 1 = 6 slots start it. Attempts of a worker that gives a submission back, because
none of its slots works any more, do not count. A submission of `QUEUE` or `ROUTES` has lost its suite or its answer, so
it has no result that another attempt would repeat.
"""

from __future__ import annotations

from sandbox_service.schema import REQUEST_FAULTS, FailureKind

MOST_ATTEMPTS = 3
RESEND_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # before each: what deletes suites may go on for a while
MOST_RESENDS = len(RESEND_SECONDS)
MOST_SUBMISSIONS = 3

POOL = frozenset({FailureKind.SANDBOX, FailureKind.JAIL_UNSAFE, FailureKind.GRADER_ERROR, FailureKind.WORKER_LOST})
QUEUE = frozenset({FailureKind.SUITE_LOST})
ROUTES = frozenset({FailureKind.FORGOTTEN, FailureKind.UNREADABLE_ANSWER})
FINAL = REQUEST_FAULTS | {FailureKind.BAD_SUBMISSION, FailureKind.GIVEN_UP}


def may_start_again(kind: str | None, attempts: int) -> bool:
    """Return whether a slot may start a submission again that failed with this kind after so many attempts."""
    return kind in POOL and attempts < MOST_ATTEMPTS
