"""What is passed on from rollout to loss: prompts, episodes, groups, micro-batches. Plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Prompt:
    """A problem as the model sees it."""

    id: str  # of the problem, the same in every epoch
    ids: Sequence[int]
    grading: Mapping[str, Any]  # the fields of a submission but its code: tests or suite, checker, limits …
    source: str = ""  # the data set that it is from


@dataclass(frozen=True)
class Completion:
    """What the engine made of a prompt: its own token ids and their log-probabilities, at the sampling temperature."""

    ids: Sequence[int]  # with the end token, if it came to one
    logprobs: Sequence[float]
    text: str
    is_truncated: bool  # it ended by its length
    version: int  # of the weights when it began; they may have been newer when it ended
    last_version: int


@dataclass(frozen=True)
class Reward:
    """What the service said. `value` is None if it could not tell: the sample is masked."""

    value: float | None
    verdict: str = ""
    reason: str = ""
    seconds: float = 0.0  # from the request to the answer

    @property
    def is_fault(self) -> bool:
        """Whether there is no verdict."""
        return self.value is None


@dataclass(frozen=True)
class Episode:
    """A sample and what it is worth."""

    prompt: Prompt
    completion: Completion
    reward: Reward
    penalty: float = 0.0  # added to the reward for its length: never above 0
    is_masked: bool = False  # it neither votes nor trains
    is_silenced: bool = False  # it votes and counts, with an advantage of 0 (DeepCoder's overlong filter)

    @property
    def total(self) -> float:
        """The reward that is learnt from. Only for what is not masked."""
        assert self.reward.value is not None
        return self.reward.value + self.penalty

    @property
    def tokens(self) -> int:
        """Of prompt and response."""
        return len(self.prompt.ids) + len(self.completion.ids)

    def as_json(self) -> dict[str, Any]:
        """All but the prompt, to the bit."""
        return {
            "completion": asdict(self.completion),
            "reward": asdict(self.reward),
            "penalty": self.penalty,
            "is_masked": self.is_masked,
            "is_silenced": self.is_silenced,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any], prompt: Prompt) -> Episode:
        """What `as_json` said, with its prompt."""
        rest = {name: said[name] for name in ("penalty", "is_masked", "is_silenced")}
        return cls(prompt, Completion(**said["completion"]), Reward(**said["reward"]), **rest)


@dataclass(frozen=True)
class Group:
    """The samples of one prompt. A group is never cut."""

    prompt: Prompt
    episodes: Sequence[Episode]
    number: int = 0  # in the order in which a run began them

    @property
    def voters(self) -> list[Episode]:
        """Those that say what is average."""
        return [episode for episode in self.episodes if not episode.is_masked]

    @property
    def is_flat(self) -> bool:
        """Whether all are worth the same by the task's reward, before any penalty: nothing to learn from."""
        values = {episode.reward.value for episode in self.voters}
        return len(values) < 2

    @property
    def version(self) -> int:
        """The oldest weights that made any of it."""
        return min(episode.completion.version for episode in self.episodes)

    def as_json(self) -> dict[str, Any]:
        """To the bit; of the prompt only its id."""
        return {
            "prompt": self.prompt.id,
            "number": self.number,
            "episodes": [episode.as_json() for episode in self.episodes],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any], prompt: Prompt) -> Group:
        """What `as_json` said, with the prompt that it named."""
        return cls(prompt, [Episode.from_json(each, prompt) for each in said["episodes"]], said["number"])


@dataclass(frozen=True)
class Row:
    """An episode as the policy trains on it: numbers only."""

    ids: Sequence[int]  # prompt and response
    response: int  # how many of these are the response's
    behaviour: Sequence[float]  # log-probabilities of the response's tokens in the engine that sampled them
    advantage: float
    is_masked: bool = False


@dataclass(frozen=True)
class MicroBatch:
    """Rows end to end without padding. T tokens, of which N are responses', of S rows.

    Token n of the responses stands at `where[n] + 1`, so what predicts it stands at `where[n]`.
    """

    ids: torch.Tensor  # [T] int64
    positions: torch.Tensor  # [T] int64, from 0 in each row: so attention tells the rows apart
    where: torch.Tensor  # [N] int64, indices into T
    targets: torch.Tensor  # [N] int64, the tokens that were sampled
    sequence: torch.Tensor  # [N] int64, the row of each, 0 … S-1
    behaviour: torch.Tensor  # [N] float32
    advantage: torch.Tensor  # [N] float32
    weight: torch.Tensor  # [N] float32: the objective is the sum of weight × loss over all micro-batches and ranks
    old: torch.Tensor | None = None  # [N] float32: by the policy before the batch's first step
    reference: torch.Tensor | None = None  # [N] float32: by the reference model

    @property
    def tokens(self) -> int:
        """T."""
        return int(self.ids.numel())


@dataclass
class Tally:
    """Sums and counts of what is watched, so that means are right over micro-batches and ranks."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, total: float, count: float) -> None:
        """A mean is total / count."""
        self.sums[name] = self.sums.get(name, 0.0) + total
        self.counts[name] = self.counts.get(name, 0.0) + count

    def peak(self, name: str, value: float) -> None:
        """The greatest."""
        self.peaks[name] = max(self.peaks.get(name, value), value)

    def join(self, other: Tally) -> None:
        """Take in what another has seen."""
        for name, total in other.sums.items():
            self.add(name, total, other.counts[name])
        for name, value in other.peaks.items():
            self.peak(name, value)

    def figures(self) -> dict[str, float]:
        """Means and peaks by name."""
        means = {name: total / self.counts[name] for name, total in self.sums.items() if self.counts[name]}
        return means | self.peaks
