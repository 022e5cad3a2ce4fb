"""The file of samples: one JSON object a line, with the text to grade and how it was sampled.

    {"problem", "sample": number, "text", "finish", "tokens", "model", "weights", "sampling": {…}, "seed", "prompt"}

"finish" is "stop", "length" (truncated) or "no_room" (the prompt filled the context; nothing was sampled). "prompt" is
a hash of the prompt. Files from elsewhere need "problem", "sample" and "text" only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainer.errors import ConfigError
from trainer.evaluation import jsonl

SAMPLES = "samples.jsonl"
CUT = ("length", "no_room")


@dataclass(frozen=True)
class SamplingOptions:
    """Sampling settings. Everything not listed (top-k, min-p, penalties) is off."""

    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 8192
    seed: int = 0

    def seed_of(self, problem: str, sample: int) -> int:
        """Return the 31-bit seed of a sample, which depends on problem and number only.

        Args:
            problem: The problem's id.
            sample: The sample's number.
        """
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
        """The problem's id and the sample's number."""
        return self.problem, self.sample

    @property
    def is_cut(self) -> bool:
        """Return whether the answer was truncated."""
        return self.finish in CUT

    def plain(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)


def read(path: Path) -> Iterator[Sample]:
    """Yield the samples in a file.

    Args:
        path: The file.

    Raises:
        ConfigError: A line is not a sample.
    """
    for number, line in enumerate(jsonl.read(path), 1):
        try:
            known = {name: line[name] for name in Sample.__dataclass_fields__ if name in line}
            made = Sample(**known)
        except TypeError as error:
            raise ConfigError(f"{path}:{number}: no sample: {error}") from None
        if not (isinstance(made.problem, str) and isinstance(made.text, str) and isinstance(made.sample, int)):
            raise ConfigError(f'{path}:{number}: a sample is {{"problem": text, "sample": number, "text": text, …}}')
        yield made


def digest(text: str) -> str:
    """Return a 64-bit hash of a text in hexadecimal.

    Args:
        text: The text.
    """
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
