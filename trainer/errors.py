"""What can go wrong, and for each what to do about it.

TrainerError
├── ConfigError    the configuration or the data: nothing was begun
├── Away           vLLM or the reward service stayed away for longer than the run has patience
├── StaleWeights   vLLM does not have the weights that it should
└── TooManyFaults  the reward service cannot tell what too many samples are worth
"""

from __future__ import annotations


class TrainerError(Exception):
    """The run cannot go on; the text says why and what to do."""


class ConfigError(TrainerError):
    """The configuration, the data or the machine does not allow what is asked for."""


class Away(TrainerError):
    """Somebody we need did not come back."""


class StaleWeights(TrainerError):
    """What vLLM computes is not what our weights say."""


class TooManyFaults(TrainerError):
    """A reward that is not known is not 0, and a run without rewards learns nothing."""
