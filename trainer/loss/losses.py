"""The policy losses of the published algorithms, one function each.

r = exp(logp − old) is a token's ratio, A its advantage, and sg stops a gradient. log r is bounded by ±20, as in the
published code. A loss is one number a token; `batch.weights` defines the mean over them. The value of a loss
sg(w) · logp means nothing; its gradient does. All tensors have one number a response token, rows end to end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import torch
from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor

LOG_RATIO_BOUND = 20.0  # keeps exp(log ratio) finite
Bound = float | Tensor  # one for all tokens, or one each [N]
Below = Annotated[float, Ge(0), Lt(1)]  # the trust region begins at 1 minus this, above 0
Above = Annotated[float, Ge(0)]  # it ends at 1 plus this
DualClip = Annotated[float, Gt(1)]  # a bound of the ratio, which is 1 before the first step
Quantile = Annotated[float, Ge(0), Le(1)]
Threshold = Annotated[float, Gt(0)]  # at 0 no token that moves further would train


@dataclass(frozen=True)
class LossInputs:
    """N response tokens of S rows. Only `logp` has a gradient."""

    logp: Tensor  # [N] by the current policy
    old: Tensor  # [N] by the policy before the batch's first step, or by the engine that sampled
    advantage: Tensor  # [N] equal for all tokens of a row
    entropy: Tensor  # [N] of the current policy's full softmax, in nats; detached
    sequence: Tensor  # [N] int64: the token's row, 0 … S-1

    @property
    def log_ratio(self) -> Tensor:
        """Log r = logp − old [N], clamped to ±20; the gradient is 0 beyond the bound."""
        return bounded(self.logp - self.old)


@dataclass(frozen=True)
class LossOutputs:
    """A loss for each token, to be weighted and summed by the caller, and masks to be reported as shares of tokens.

    The masks have the same names in all losses. `clip_low`: A < 0 and the ratio is below the trust region; `clip_high`:
    A > 0 and it is above. `dual_high`: A < 0 and it is above a second bound; `dual_low`: A > 0 and it is below one.
    `high_entropy`: the token is in that class.
    """

    loss: Tensor  # [N] with a gradient
    shares: dict[str, Tensor] = field(default_factory=dict)  # name → [N] bool


Loss = Callable[..., LossOutputs]


def grpo(
    inputs: LossInputs, *, clip_low: Below = 0.2, clip_high: Above = 0.2, dual_clip: DualClip | None = None
) -> LossOutputs:
    """Return max(−A·r, −A·clip(r, 1 − clip_low, 1 + clip_high)); with `dual_clip` c, for A < 0 at most −A·c.

    GRPO: DeepSeekMath, arXiv 2402.03300, eq. 3, whose KL term is in terms.py. DAPO: arXiv 2503.14476, clip_high 0.28
    ("clip-higher") and, in its recipe only, dual_clip 10. GRPO+: the DeepCoder blog, 0.2 and 0.28. Dual clip: Ye et
    al., arXiv 1912.09729. verl's is 3 by default; here it is disabled by default (None), as in the papers.
    """
    return _surrogate(inputs.log_ratio.exp(), inputs.advantage, clip_low, clip_high, dual_clip)


def archer(
    inputs: LossInputs,
    *,
    clip_low: Below = 0.2,
    clip_high: Above = 0.2,
    high_entropy_clip_low: Below = 0.5,
    high_entropy_clip_high: Above = 0.5,
    quantile: Quantile = 0.8,
    dual_clip: DualClip | None = 10.0,
) -> LossOutputs:
    """Return GRPO's loss with clip bounds by entropy class: narrow for tokens of low entropy, wide for those of high.

    Archer, Wang et al., arXiv 2507.15778 (dual-token constraints). The other half of the constraint, KL for the low
    class only, is in terms.py. `quantile`, of the entropies within a response, separates the classes; `high_entropy_…`
    are the clips of the high one. The constants are the paper's; dual_clip is from the script that trained
    ArcherCodeR-1.5B. Classes use the current policy's entropies, as the published code does.
    """
    high = high_entropy(inputs.entropy, inputs.sequence, quantile)
    low_bound = by_class(high, high_entropy_clip_low, clip_low, inputs.logp)
    high_bound = by_class(high, high_entropy_clip_high, clip_high, inputs.logp)
    found = _surrogate(inputs.log_ratio.exp(), inputs.advantage, low_bound, high_bound, dual_clip)
    return LossOutputs(found.loss, found.shares | {"high_entropy": high})


def aspo(
    inputs: LossInputs,
    *,
    clip_low: Below = 0.2,
    clip_high: Above = 0.2,
    high_entropy_clip_low: Below = 0.4,
    high_entropy_clip_high: Above = 0.4,
    quantile: Quantile | None = 0.8,
    negative_dual_clip: DualClip = 3.0,
    positive_dual_clip: DualClip = 3.0,
) -> LossOutputs:
    """Return −A · sg(w) · logp, where the ratio is inverted for A > 0, so that unlikely tokens weigh most.

    A > 0: w = min(1/r, positive_dual_clip), and 0 where r > 1 + clip_high.
    A < 0: w = min(r, negative_dual_clip), and 0 where r < 1 − clip_low.
    Unlike PPO's, this dual clip is soft: it bounds the weight and keeps the gradient.

    Wang et al., arXiv 2510.06062, eq. 3 for the inverted ratio. The clips depend on the entropy class, as in the
    Archer2.0 code that produced the published models, where 0.4 is hard-coded. The paper has a single clip of 0.2;
    `quantile` None selects it (1.0 is equivalent, for files without null).
    """
    ratio, positive, negative = inputs.log_ratio.detach().exp(), inputs.advantage > 0, inputs.advantage < 0
    high = torch.zeros_like(positive) if quantile is None else high_entropy(inputs.entropy, inputs.sequence, quantile)
    shares = {
        "clip_low": negative & (ratio < 1 - by_class(high, high_entropy_clip_low, clip_low, ratio)),
        "clip_high": positive & (ratio > 1 + by_class(high, high_entropy_clip_high, clip_high, ratio)),
        "dual_low": positive & (1 / ratio > positive_dual_clip),
        "dual_high": negative & (ratio > negative_dual_clip),
        "high_entropy": high,
    }
    weight = torch.where(positive, (1 / ratio).clamp(max=positive_dual_clip), ratio.clamp(max=negative_dual_clip))
    weight = torch.where(shares["clip_low"] | shares["clip_high"], 0.0, weight)
    return LossOutputs(-inputs.advantage * weight * inputs.logp, shares)


def m2po(inputs: LossInputs, *, threshold: Threshold = 0.04, cutoff: Tensor | None = None) -> LossOutputs:
    """Return −M·r·A, with M = 0 for tokens that move further (A > 0 and r > 1, or A < 0 and r < 1) than a cutoff.

    Zheng et al., arXiv 2510.01161, algorithm 1, with r relative to the policy that sampled: this needs `loss.old =
    "behaviour"`. The paper's cutoff is of the whole batch, so `prepare_m2po` computes it before the micro-batches; None
    computes it from the given tokens. Masked tokens stay in the denominator, as in the paper.
    """
    log_ratio, advantage = inputs.log_ratio, inputs.advantage
    if cutoff is None:
        cutoff = m2po_cutoff(log_ratio, advantage, threshold)
    gone = log_ratio.detach().abs() > cutoff
    shares = {
        "clip_low": gone & (advantage < 0) & (log_ratio < 0),
        "clip_high": gone & (advantage > 0) & (log_ratio > 0),
    }
    masked = shares["clip_low"] | shares["clip_high"]
    return LossOutputs(-advantage * torch.where(masked, 0.0, log_ratio.exp()), shares)


def m2po_cutoff(log_ratio: Tensor, advantage: Tensor, threshold: float) -> Tensor:
    """Return the largest |log r| that stays when the largest are dropped until the mean of (log r)² is ≤ threshold.

    Of tokens [M] that move further only; equal values stay or go together. With sorted values, the mean after any
    number of drops is a running mean. The result is infinite if nothing is dropped, and 0 if everything is.
    """
    values = log_ratio.detach()
    size = values[advantage * values > 0].abs().sort().values
    rest = size.double().square().cumsum(0) / torch.arange(1, size.numel() + 1, device=size.device)
    stays = rest <= threshold
    if bool(stays.all()):
        return values.new_tensor(float("inf"))
    stays[:-1] &= size[:-1] < size[1:]  # the last of equal values represents them
    return torch.where(stays, size, 0.0).max()


def prepare_m2po(log_ratio: Tensor, advantage: Tensor, *, threshold: Threshold = 0.04) -> Mapping[str, Tensor]:
    """Return the keyword arguments of `m2po` that depend on the whole mini-batch; see `m2po_cutoff`."""
    return {"cutoff": m2po_cutoff(bounded(log_ratio), advantage, threshold)}


def gspo(inputs: LossInputs, *, clip_low: Below = 3e-4, clip_high: Above = 4e-4) -> LossOutputs:
    """Return PPO's surrogate of s·p/sg(p), with s = exp(mean of log r over the response), clipped as a whole.

    Zheng et al., arXiv 2507.18071, eq. 5 and 7, in its token form (GSPO-token, section 4.3): each token has the value
    of the response's ratio and the gradient of its own logp. With `mean = "sequence"` value and gradient are those of
    eq. 5. The bound of log r is applied before the mean. There is no dual clip, as in the paper and in verl.
    """
    sequence_log_ratio = row_mean(inputs.log_ratio.detach(), inputs.sequence)
    ratio = (sequence_log_ratio + inputs.logp - inputs.logp.detach()).exp()
    return _surrogate(ratio, inputs.advantage, clip_low, clip_high, None)


def cispo(inputs: LossInputs, *, clip_low: Above = 1.0, clip_high: Above = 4.0) -> LossOutputs:
    """Return −A · sg(clip(r, 1 − clip_low, 1 + clip_high)) · logp. MiniMax-M1, arXiv 2506.13585, eq. 4 and 5.

    Tokens whose ratios PPO clips keep a gradient. The paper has no lower bound (1.0 is equivalent to none) and does not
    state its upper one; weights up to 5 are this trainer's choice. This clip does not depend on the sign of A.
    """
    ratio = inputs.log_ratio.detach().exp()
    weight = ratio.clamp(1 - clip_low, 1 + clip_high)
    shares = {"clip_low": ratio < 1 - clip_low, "clip_high": ratio > 1 + clip_high}
    return LossOutputs(-inputs.advantage * weight * inputs.logp, shares)


def _surrogate(
    ratio: Tensor, advantage: Tensor, clip_low: Bound, clip_high: Bound, dual_clip: float | None
) -> LossOutputs:
    """Return the clipped surrogate of `grpo`, whose bounds may be one each [N].

    Written with cases instead of min and max: value and gradient are the same, and the cases are the reported masks.
    """
    shares = {
        "clip_low": (advantage < 0) & (ratio < 1 - clip_low),
        "clip_high": (advantage > 0) & (ratio > 1 + clip_high),
    }
    used = torch.where(shares["clip_low"], 1 - clip_low, ratio)
    used = torch.where(shares["clip_high"], 1 + clip_high, used)
    if dual_clip is not None:
        shares["dual_high"] = (advantage < 0) & (ratio > dual_clip)
        used = torch.where(shares["dual_high"], dual_clip, used)
    return LossOutputs(-advantage * used, shares)


def bounded(log_ratio: Tensor) -> Tensor:
    """Clamp log ratios to ±20."""
    return log_ratio.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)


def row_mean(values: Tensor, sequence: Tensor) -> Tensor:
    """Return for each token the mean of the values over its row."""
    counts = torch.bincount(sequence)
    # in double precision: a GPU adds in any order, and runs must be repeatable to the bit of a float32
    sums = torch.zeros(counts.numel(), dtype=torch.float64, device=values.device)
    sums = sums.index_add(0, sequence, values.double())
    return (sums / counts.clamp(min=1))[sequence].to(values.dtype)


def high_entropy(entropy: Tensor, sequence: Tensor, quantile: float) -> Tensor:
    """Return whether each token is of the high class [N] ("reasoning"): its entropy is above its response's quantile.

    Archer, arXiv 2507.15778. Quantiles are per response, interpolated linearly. The paper has ≥ and its code >; here it
    is >, so a response of one token, or of equal entropies, has no high token. In the published code
    `high_entropy_mask` is true for the *low* class ("knowledge").
    """
    rows = torch.split(entropy.detach().double(), torch.bincount(sequence).tolist())
    classes = [row > row.quantile(quantile) for row in rows if row.numel()]
    return torch.cat(classes) if classes else entropy > 0


def by_class(high: Tensor, of_high: float, of_low: float, like: Tensor) -> Tensor:
    """Return `of_high` for tokens of the high class (mask [N]), else `of_low`, in the type of the tensor `like`."""
    return torch.where(high, like.new_tensor(of_high), like.new_tensor(of_low))
