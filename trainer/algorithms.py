"""Presets of the published algorithms: the settings in which each differs from the defaults (`algorithm = "…"`).

Algorithms may share a loss: GRPO, DAPO and GRPO+ do. The constants are those of the paper, or of the code that produced
its results. Other settings of published runs (batch size, lengths, learning rate) are in configs/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {  # sections as in a configuration file
    # Shao et al. 2024, arXiv 2402.03300: symmetric clip, mean over each response first, KL to the reference (0.04
    # there; DeepScaleR, Code-R1 and verl have 0.001)
    "grpo": {
        "loss": {"name": "grpo", "mean": "sequence", "clip_low": 0.2, "clip_high": 0.2},
        "kl": {"coefficient": 0.001, "estimator": "k3"},
    },
    # Yu et al. 2025, arXiv 2503.14476: clip-higher, token mean, dynamic sampling, soft overlong penalty, no KL
    "dapo": {
        "loss": {"name": "grpo", "mean": "token", "clip_low": 0.2, "clip_high": 0.28, "dual_clip": 10.0},
        "buffer": {"drop_flat": True, "max_generations": 10},
        "reward": {"overlong_buffer": 4096, "overlong_factor": 1.0},
    },
    # DeepCoder 2025 (blog): clip-higher, token mean, wrong truncated samples silenced, no KL, no entropy term
    "grpo_plus": {
        "loss": {"name": "grpo", "mean": "token", "clip_low": 0.2, "clip_high": 0.28},
        "reward": {"overlong_filter": "silence"},
    },
    # Wang et al. 2025, arXiv 2507.15778: by the token's entropy, a wider clip and no KL, or a narrow one and KL
    "archer": {
        "loss": {"name": "archer", "mean": "token"},
        "kl": {"coefficient": 0.001, "high_entropy_coefficient": 0.0, "quantile": 0.8, "estimator": "k3"},
        "buffer": {"drop_flat": True, "max_generations": 1},
    },
    # Wang et al. 2025, arXiv 2510.06062: the ratio of tokens with positive advantage is turned over; mean over each
    # response first, as in the paper and, in effect, in Archer2.0, whose classes and KL these are
    "aspo": {
        "loss": {"name": "aspo", "mean": "sequence"},
        "kl": {"coefficient": 0.001, "high_entropy_coefficient": 0.0, "quantile": 0.8, "estimator": "k3"},
        "buffer": {"drop_flat": True, "max_generations": 1},
        "reward": {"overlong_buffer": 16, "overlong_factor": 1.0},
    },
    # Zheng et al. 2025, arXiv 2510.01161: no clip; the tokens that make the second moment too great are left out
    "m2po": {"loss": {"name": "m2po", "mean": "token", "old": "behaviour"}, "correction": {"name": "none"}},
    # Zheng et al. 2025, arXiv 2507.18071: one ratio for a response, the geometric mean of its tokens'
    "gspo": {"loss": {"name": "gspo", "mean": "sequence", "clip_low": 3e-4, "clip_high": 4e-4}},
    # MiniMax 2025, arXiv 2506.13585: the weight is clipped and the gradient kept
    "cispo": {"loss": {"name": "cispo", "mean": "token", "clip_low": 1.0, "clip_high": 4.0}},
}
