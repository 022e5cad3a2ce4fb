"""Scenarios of test_policy.py, run in separate processes with the real DeepSpeed, all stages in turn.

    python -m tests.trainer.policy_steps FOLDER every|few        or under torchrun, with several ranks

FOLDER/model is a tiny model, FOLDER/untied one with an untied output embedding, FOLDER/other one of the same shapes.
The results of all scenarios are written to FOLDER/ranks<number>.pt as a mapping by name.
"""

from __future__ import annotations

import random
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from trainer.batch import collate, pack, weights
from trainer.config import Config, resolve
from trainer.episode import MicroBatch, Row, Tally
from trainer.errors import ConfigError
from trainer.policy import Policy, learning_rate
from trainer.ranks import Ranks

STEPS = 3
SHAPES = (
    (20, 10),
    (33, 4),
    (9, 5),
    (50, 30),
    (12, 3),
    (7, 2),
    (41, 20),
    (16, 15),
    (28, 9),
)  # tokens, and of the response
SEVERAL, ONE = 60, 10_000  # budgets in tokens: four micro-batches on one rank, two on each of two; and one on each
TEMPERATURE = 0.8
LORA = {"rank": 4, "alpha": 8}


@dataclass(frozen=True)
class Stages:
    """The ZeRO stages of each kind of scenario. `kept`: those whose state is saved, with what they have beside it."""

    plain: tuple[int, ...]
    bfloat16: tuple[int, ...]
    offload: tuple[int, ...]
    untied: tuple[int, ...]
    adapters: tuple[int, ...]
    split: tuple[int, ...]
    kept: tuple[str, ...]


EVERY = Stages(
    plain=(0, 1, 2, 3),
    bfloat16=(1, 2, 3),
    offload=(2, 3),
    untied=(2, 3),
    adapters=(0, 2, 3),
    split=(2, 3),
    kept=(
        *("0", "1", "2", "3", "1 bfloat16", "2 bfloat16", "3 bfloat16"),
        *("2 offload", "3 offload", "2 adapters", "3 adapters"),
    ),
)
# In float32 stage 1 is the same code of DeepSpeed as stage 2, and an offloaded step of stage 2 is compared with the
# same plain PyTorch. Each kind is trained with one stage, and its state is kept with another one
FEW = Stages(
    plain=(0, 3),
    bfloat16=(1,),
    offload=(2,),
    untied=(3,),
    adapters=(0, 3),
    split=(3,),
    kept=("0", "3", "3 bfloat16", "3 offload", "2 adapters"),
)
BY_NAME = {"every": EVERY, "few": FEW}
BESIDE: dict[str, dict[str, Any]] = {
    "": {},
    "bfloat16": {"dtype": "bfloat16"},
    "offload": {"offload": True},
    "untied": {"model": "untied"},
    "adapters": {"lora": LORA},
}
"""What a scenario's configuration has beside the stage."""


def rows() -> list[Row]:
    """A mini-batch."""
    draw = random.Random(0)
    made = []
    for tokens, response in SHAPES:
        ids = [draw.randrange(4, 260) for _ in range(tokens)]
        made.append(Row(ids, response, [-5.0] * response, draw.choice((-1.0, 0.5, 1.5))))
    return made


def settings(folder: Path, zero: int, **over: Any) -> Config:
    """Return a configuration in which Adam's eps is large.

    Weights then do not depend on the sign of a gradient that is only rounding. Under ZeRO-3 even the smallest parameter
    is partitioned.
    """
    extra = {"zero_optimization": {"stage3_param_persistence_threshold": 0}} if zero == 3 else {}
    said: dict[str, Any] = {
        "algorithm": "dapo",
        "steps": 4,
        "model": {
            "path": str(folder / over.pop("model", "model")),
            "dtype": over.pop("dtype", "float32"),
            "chunk_tokens": 16,
        },
        "data": {"train": ["none"]},
        "rollout": {"temperature": TEMPERATURE},
        "optimiser": {"lr": 1e-3, "eps": 1e-4, "clip": 1.0, "warmup_steps": 2, "schedule": "linear"},
        "deepspeed": {"zero": zero, "extra": extra}
        | {name: over.pop(name) for name in ("offload", "sequence_parallel") if name in over},
    }
    return resolve(said | over)


@dataclass
class Plain:
    """−Σ weight · advantage · logp, times what `prepare` says, if it is asked."""

    needs_old: bool = True
    prepare: Callable[[Tensor, Tensor], Mapping[str, Tensor]] | None = None
    spoil: float = 1.0

    def __call__(
        self, micro: MicroBatch, logp: Tensor, entropy: Tensor, prepared: Mapping[str, Tensor], _is_first: bool
    ) -> tuple[Tensor, Tally]:
        factor = prepared["factor"] if self.prepare else torch.tensor(self.spoil)
        value = -(micro.weight * micro.advantage * logp).sum() * factor
        tally = Tally()
        tally.add("loss", float(value.detach()), 0)
        tally.add("entropy", float(entropy[micro.weight > 0].sum()), float((micro.weight > 0).sum()))
        return value, tally


class Run:
    """A policy, and what is asked of it."""

    def __init__(self, config: Config, ranks: Ranks, budget: int, batch: Sequence[Row] | None = None) -> None:
        self.ranks = ranks
        self.config = config
        self.done = 0  # steps
        self.policy = Policy(config, ranks)
        batch = rows() if batch is None else batch
        scale = {id(row): weight for row, weight in zip(batch, weights(batch, "token", 1), strict=True)}
        sharing = config.deepspeed.sequence_parallel
        mine = pack(batch, budget, ranks.size // sharing)[ranks.rank // sharing]
        self.micro = [collate(some, [scale[id(row)] for row in some]) for some in mine]

    def step(self, objective: Any, is_first: bool = False) -> dict[str, float]:
        """The sum of losses and what else was seen, over all ranks."""
        self.done += 1
        lr = learning_rate(self.config.optimiser, self.done, self.config.steps)
        tally = Tally().merge(*self.ranks.gather(self.policy.update(self.micro, objective, is_first, lr)))
        return tally.metrics() | {"loss": tally.sums["loss"]}

    def weights(self) -> dict[str, Tensor]:
        return {name: weight.float().clone() for name, weight in self.policy.weights()}


def steps(run: Run) -> dict[str, Any]:
    """A few steps, and what they came to."""
    before = run.weights()  # before any pass, which under ZeRO-3 is not to be taken for granted
    seen = [run.step(Plain()) for _ in range(STEPS)]
    return {"micro": len(run.micro), "before": before, "seen": seen, "weights": run.weights()}


def adapters(run: Run) -> dict[str, Any]:
    """A few steps of adapters, and what a checkpoint's model has."""
    made = steps(run)
    run.policy.save_model(folder := Path(run.config.model.path).parent / f"adapted{run.ranks.size}")
    return made | {"saved": load_file(folder / "model.safetensors")}


def spoilt_step(run: Run) -> dict[str, Any]:
    """One rank has a nan: nobody steps; and then all go on."""
    before = run.weights()
    spoilt = run.step(Plain(spoil=float("nan") if run.ranks.is_leader else 1.0))
    after = run.weights()
    return {"before": before, "spoilt": spoilt, "after": after, "next": run.step(Plain())}


def preparation(run: Run) -> dict[str, Any]:
    """What `prepare` is told, and whether a pass is made for it."""
    told: list[tuple[Tensor, Tensor]] = []
    passes = []
    score = run.policy.score

    def counted(micro: Sequence[MicroBatch]) -> list[Tensor]:
        passes.append(len(micro))
        return score(micro)

    def prepare(log_ratio: Tensor, advantage: Tensor) -> dict[str, Tensor]:
        told.append((log_ratio, advantage))
        return {"factor": log_ratio.new_ones(())}

    run.micro = [replace(each, old=old) for each, old in zip(run.micro, run.policy.score(run.micro), strict=True)]
    run.policy.score = counted  # type: ignore[method-assign,assignment]
    run.step(Plain(prepare=prepare), is_first=True)
    at_first = list(passes)
    run.step(Plain(prepare=prepare))
    run.step(Plain(prepare=prepare, needs_old=False))
    return {"told": told, "passes_at_first": at_first, "passes": passes}


def reference(run: Run) -> dict[str, Any]:
    """The reference model stays what it was."""
    first = run.ranks.concatenate(torch.cat(run.policy.score(run.micro)))
    run.step(Plain())
    now = [torch.cat(run.policy.score(run.micro)), torch.cat(run.policy.score(run.micro, by_reference=True))]
    policy, frozen = (run.ranks.concatenate(each) for each in now)
    return {"first": first, "policy": policy, "frozen": frozen}


def kept(config: Config, ranks: Ranks, folder: Path) -> dict[str, Any]:
    """Two steps; and one, another policy that goes on from there, and one more."""
    through, chance = Run(config, ranks, SEVERAL), torch.rand(1)
    through.step(Plain())
    through.policy.save_state(folder)
    left, expected = torch.rand(1), [through.step(Plain()), through.weights()]
    through.policy.close()
    again = Run(config, ranks, SEVERAL)
    again.policy.restore(folder)
    again.done = 1
    drawn = torch.rand(1)
    made = {"chance": [chance, left, drawn], "expected": expected}
    made |= {"got": [again.step(Plain()), again.weights()]}
    again.policy.close()
    return made


def other_model(config: Config, other: Config, ranks: Ranks, folder: Path) -> dict[str, Any]:
    """A policy, and the message to one of another model that goes on from its state."""
    first = Run(config, ranks, SEVERAL)
    first.policy.save_state(folder)
    first.policy.close()
    second = Run(other, ranks, SEVERAL)
    try:
        second.policy.restore(folder)
        said = ""
    except ConfigError as error:
        said = str(error)
    made = {"said": ranks.gather(said), "seen": [second.step(Plain())]}
    second.policy.close()
    return made


def unwritable(run: Run, folder: Path) -> dict[str, Any]:
    """The last rank may write no file of more than a few bytes, and then rank 0 not, of either kind; and all go on."""
    troubles = []
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    last = run.ranks.size - 1
    for number, (rank, write) in enumerate(
        [(last, run.policy.save_state), (0, run.policy.save_model), (0, run.policy.save_state)]
    ):
        if run.ranks.rank == rank:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            write(folder / str(number))
            troubles.append("")
        except OSError as trouble:
            troubles.append(str(trouble))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    return {"troubles": run.ranks.gather(troubles), "next": run.step(Plain()), "left": (folder / "1").exists()}


def lonely(config: Config, ranks: Ranks) -> dict[str, Any]:
    """Fewer rows than ranks, so that some get padding; and a micro-batch without any response token."""
    run = Run(config, ranks, ONE, rows()[:1])
    if not ranks.is_leader:
        empty = {each.name: getattr(run.micro[0], each.name) for each in fields(MicroBatch)}
        cut = {
            name: value[:0]
            for name, value in empty.items()
            if hasattr(value, "shape") and name not in ("ids", "positions")
        }
        nothing = replace(run.micro[0], **cut)
        assert nothing.targets.numel() == 0
        run.micro.append(nothing)
    else:
        run.micro.append(collate([], []))
    run.policy.score(run.micro)
    made = {"seen": [run.step(Plain())], "weights": run.weights()}
    run.policy.close()
    return made


def everything(folder: Path, ranks: Ranks, stages: Stages) -> dict[str, Any]:
    """All scenarios by name, with these stages."""
    made: dict[str, Any] = {}

    def do(name: str, what: Callable[[Run], dict[str, Any]], config: Config, budget: int = SEVERAL) -> None:
        run = Run(config, ranks, budget)
        made[name] = what(run)
        run.policy.close()

    for zero in stages.plain:
        plain = settings(folder, zero)
        do(f"several {zero}", steps, plain)
        do(f"one {zero}", steps, plain, ONE)
        do(f"spoilt {zero}", spoilt_step, plain)
        made[f"lonely {zero}"] = lonely(plain, ranks)
        other = settings(folder, zero, model="other")
        made[f"other {zero}"] = other_model(plain, other, ranks, folder / f"other{ranks.size} {zero}")
    for kind in ("bfloat16", "offload", "untied", "adapters"):
        for zero in getattr(stages, kind):
            do(f"{kind} {zero}", adapters if kind == "adapters" else steps, settings(folder, zero, **BESIDE[kind]))
    for zero in (0, 3):
        do(f"reference {zero}", reference, settings(folder, zero, kl={"coefficient": 0.1}))
        do(f"preparation {zero}", preparation, settings(folder, zero))
    for name in stages.kept:
        stage, _, beside = name.partition(" ")
        config = settings(folder, int(stage), **BESIDE[beside])
        made[f"kept {name}"] = kept(config, ranks, folder / f"kept{ranks.size} {name}")
    for zero in stages.split if ranks.size > 1 else ():
        split = settings(folder, zero, sequence_parallel=ranks.size)
        do(f"several split {zero}", steps, split)
        do(f"reference split {zero}", reference, settings(folder, zero, sequence_parallel=2, kl={"coefficient": 0.1}))
    do("unwritable", partial(unwritable, folder=folder / f"unwritable{ranks.size}"), settings(folder, 2))
    saved = Run(settings(folder, 3), ranks, SEVERAL)
    saved.step(Plain())
    for _ in range(2):  # the second time over the first
        saved.policy.save_model(folder / f"saved{ranks.size}")
    made["saved"] = {"weights": saved.weights(), "has_reference": saved.policy._reference is not None}
    saved.policy.close()
    return made


def main(arguments: Sequence[str]) -> int:
    """Write the results of the scenarios into a folder. `arguments`: the folder, and `every` or `few`."""
    folder = Path(arguments[0])
    ranks = Ranks.join()
    made = everything(folder, ranks, BY_NAME[arguments[1]])
    if ranks.is_leader:
        torch.save(made, folder / f"ranks{ranks.size}.pt")
    ranks.wait()
    ranks.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
