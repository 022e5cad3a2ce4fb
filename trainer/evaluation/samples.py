"""Samples in a file: a line each, with all that is needed to grade it elsewhere, and to know where it came from.

    {"problem", "sample": number, "text", "finish", "tokens", "model", "weights", "sampling": {…}, "seed", "prompt"}

"finish" is "stop", "length" (it was cut) or "no_room" (the prompt left none: nothing was asked). "prompt" is a hash of
what was asked. Files from elsewhere need "problem", "sample" and "text" only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainer.errors import ConfigError
from trainer.evaluation import journal

SAMPLES = "samples.jsonl"
CUT = ("length", "no_room")


@dataclass(frozen=True)
class Sampling:
    """How samples are drawn. What is not said here is off: no top-k, no min-p, no penalty."""

    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 8192
    seed: int = 0

    def seed_of(self, problem: str, sample: int) -> int:
        """Of one sample, 31 bits: by problem and number alone, whatever else is asked and in whichever order."""
        digest = hashlib.blake2b(f"{self.seed}/{problem}/{sample}".encode(), digest_size=4).digest()
        return int.from_bytes(digest, "big") >> 1


@dataclass(frozen=True)
class Sample:
    """A model's answer to a problem."""

    problem: str
    sample: int  # its number, from 0
    text: str
    finish: str = "stop"
    tokens: int | None = None
    model: str = ""
    weights: str = ""
    sampling: Mapping[str, Any] | None = None
    seed: int | None = None
    prompt: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """Which of all it is."""
        return self.problem, self.sample

    @property
    def is_cut(self) -> bool:
        """Whether the model had not finished."""
        return self.finish in CUT

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


def read(path: Path) -> Iterator[Sample]:
    """The samples in a file. Raises ConfigError for a line that is none."""
    for number, line in enumerate(journal.read(path), 1):
        try:
            known = {name: line[name] for name in Sample.__dataclass_fields__ if name in line}
            made = Sample(**known)
        except TypeError as trouble:
            raise ConfigError(f"{path}:{number}: no sample: {trouble}") from None
        if not (isinstance(made.problem, str) and isinstance(made.text, str) and isinstance(made.sample, int)):
            raise ConfigError(f'{path}:{number}: a sample is {{"problem": text, "sample": number, "text": text, …}}')
        yield made


def digest(text: str) -> str:
    """Short, and another one for another text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
