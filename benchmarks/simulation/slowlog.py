"""Shows on which calls Redis spends its time, from its slow log with every call in it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from benchmarks.simulation.fleet import Fleet
from sandbox_service.fleet.ledger import lua

PROFILE_SECONDS = 4.0


def profile(here: Fleet, when: str) -> None:
    """Print what Redis did in four seconds. The log costs time as well, so this is not part of other measurements."""
    names = _names_of_scripts()
    here.redis.config_set("slowlog-max-len", 1_000_000)
    here.redis.slowlog_reset()
    before = here.look()
    here.redis.config_set("slowlog-log-slower-than", 0)
    time.sleep(PROFILE_SECONDS)
    here.redis.config_set("slowlog-log-slower-than", -1)
    change = here.look() - before
    calls, micros = Counter[str](), Counter[str]()
    for entry in here.redis.slowlog_get(1_000_000):
        if _is_of_a_script(entry["command"]):
            continue
        name = _name(entry["command"], names)
        calls[name] += 1
        micros[name] += entry["duration"]
    print(f"\n{here.workers} workers, {when}: {change.answered / change.seconds:.0f} submissions a second")
    print("| call | a second | µs | a submission | µs a submission | % of a core |")
    print("|---|---|---|---|---|---|")
    for name, spent in [*micros.most_common(14), ("all", micros.total())]:
        count = calls[name] if name in calls else calls.total()
        each = [count / change.answered, spent / change.answered] if change.answered else [0.0, 0.0]
        print(
            f"| {name} | {count / change.seconds:.1f} | {spent / max(1, count):.1f} | {each[0]:.3f} | {each[1]:.1f} "
            f"| {spent / change.seconds / 10_000:.2f} |"
        )


def _is_of_a_script(command: bytes) -> bool:
    """Return whether a command is part of a script, with which it is counted."""
    return b" proctor:" in command and b":suite:" not in command and not command.startswith((b"XREAD", b"XTRIM"))


def _name(command: bytes, functions: dict[str, str]) -> str:
    """Return the name of a call in the table."""
    words = command.split(b" ")
    name = words[0].decode().lower()
    if name == "evalsha":
        return "a script of RQ's"
    if name != "fcall":
        return name
    function = functions.get(words[1].decode(), "a function of another version")
    return f"{function}: {_parts(words[3:])}" if function == "exchange.lua" else function


def _parts(words: Sequence[bytes]) -> str:
    """Return which parts a call of exchange.lua has, of its arguments as that file describes them."""
    is_beat, is_claim = words[3] != b"", words[5] != b""
    first_step = (14 + int(words[13]) if is_claim else 6) + 3
    found = {"steps": len(words) > first_step, "claim": is_claim, "beat": is_beat}
    return ", ".join(name for name, there in found.items() if there)


def _names_of_scripts() -> dict[str, str]:
    """Return the names of the files of the ledger's functions, by those in Redis."""
    return {name: f"{file}.lua" for file, name in lua.library().names.items()}
