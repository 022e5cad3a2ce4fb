"""Plain data passed from rollout to loss: prompts, episodes, groups, rows, micro-batches, tallies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import torch

Role = Literal["solver", "tester"]  # see duel/; without duels all are solvers
ROLES: tuple[Role, ...] = ("solver", "tester")


@dataclass(frozen=True)
class Prompt:
    """A problem as token ids."""

    id: str  # of the problem; the same in every epoch
    ids: Sequence[int]
    grading: Mapping[str, Any]  # a submission's fields except the code: tests or suite, checker, limits …
    tester: Prompt | None = None  # asks for test cases of the same problem, in duels
    messages: Sequence[Mapping[str, str]] = ()  # the conversation as text


@dataclass(frozen=True)
class Completion:
    """A response: the engine's token ids and their log-probabilities at the sampling temperature."""

    ids: Sequence[int]  # including the end token, if sampled; empty: of another policy (`duel.opponent`)
    logprobs: Sequence[float]
    text: str
    is_truncated: bool  # ended at the token limit
    version: int  # of the weights at the first token; a sync may have happened before the last
    last_version: int  # of the weights at the last token


@dataclass(frozen=True)
class Reward:
    """The reward service's answer. `value` is None without a verdict; the sample is then masked."""

    value: float | None
    verdict: str = ""
    reason: str = ""
    seconds: float = 0.0  # from request to answer
    is_suspect: bool = False  # it was accepted and fails an audit test
    has_program: bool = True  # a program was found in the response
    figures: Mapping[str, float] = field(default_factory=dict)  # further measurements of the sample

    @property
    def is_fault(self) -> bool:
        return self.value is None


@dataclass(frozen=True)
class Episode:
    """A graded sample."""

    prompt: Prompt
    completion: Completion
    reward: Reward
    penalty: float = 0.0  # length penalty, added to the reward; at most 0
    is_masked: bool = False  # excluded from the group's statistics and from training
    is_silenced: bool = False  # in the statistics, with advantage 0 (DeepCoder's overlong filter)
    role: Role = "solver"

    @property
    def is_own(self) -> bool:
        """Return whether the trained policy sampled it."""
        return bool(self.completion.ids)

    @property
    def total(self) -> float:
        """The reward used for training: value plus penalty. Defined for episodes with a verdict only."""
        assert self.reward.value is not None
        return self.reward.value + self.penalty


@dataclass(frozen=True)
class Group:
    """The samples of one problem. Groups are never split across batches."""

    prompt: Prompt
    episodes: Sequence[Episode]
    number: int = 0  # in the order of their start

    @property
    def teams(self) -> list[list[Episode]]:
        """The trained policy's episodes by role; advantages are relative to the team."""
        teams = [[each for each in self.episodes if each.role == role and each.is_own] for role in ROLES]
        return [team for team in teams if team]

    @property
    def is_flat(self) -> bool:
        """Return whether no episode has an advantage."""
        return all(map(is_flat, self.teams))

    @property
    def version(self) -> int:
        """The oldest version of the weights of any token."""
        return min(each.completion.version for each in self.episodes if each.is_own)


def is_flat(team: Sequence[Episode]) -> bool:
    """Return whether all task rewards of a team, without penalties, are equal; masked ones do not count."""
    return len({each.reward.value for each in team if not each.is_masked}) < 2


@dataclass(frozen=True)
class Row:
    """An episode as training input."""

    ids: Sequence[int]  # token ids of prompt and response
    response: int  # the number of response tokens
    behaviour: Sequence[float]  # log-probabilities [response] by the engine that sampled
    advantage: float


@dataclass(frozen=True)
class MicroBatch:
    """Rows packed end to end without padding: T tokens of S rows, N of them response tokens."""

    ids: torch.Tensor  # [T] int64
    positions: torch.Tensor  # [T] int64, from 0 in each row; attention separates rows by them
    where: torch.Tensor  # [N] int64, indices into T of the logits that predict a response token, which is the next one
    targets: torch.Tensor  # [N] int64, the sampled tokens
    sequence: torch.Tensor  # [N] int64, the row of each, 0 … S-1
    behaviour: torch.Tensor  # [N] float32
    advantage: torch.Tensor  # [N] float32
    weight: torch.Tensor  # [N] float32, above 0: the objective is Σ weight × loss over all micro-batches and ranks
    old: torch.Tensor | None = None  # [N] float32, by the policy before the batch's first step
    reference: torch.Tensor | None = None  # [N] float32, by the reference model


@dataclass
class Tally:
    """Sums, counts and maxima of monitored values, so that means are exact over micro-batches and ranks."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, total: float, count: float) -> None:
        """Add values to a mean, by its name, their total and their count; see `metrics`."""
        self.sums[name] = self.sums.get(name, 0.0) + total
        self.counts[name] = self.counts.get(name, 0.0) + count

    def add_max(self, name: str, value: float) -> None:
        """Update a maximum (metric `name`) with a value."""
        self.peaks[name] = max(self.peaks.get(name, value), value)

    def merge(self, *others: Tally) -> Tally:
        """Add others to this one, in their order, and return it."""
        for other in others:
            for name, total in other.sums.items():
                self.add(name, total, other.counts[name])
            for name, value in other.peaks.items():
                self.add_max(name, value)
        return self

    def metrics(self) -> dict[str, float]:
        means = {name: total / self.counts[name] for name, total in self.sums.items() if self.counts[name]}
        return means | self.peaks
