"""The exceptions of a run; each message says what to change.

TrainerError
├── ConfigError         configuration or data are invalid; raised before training starts
├── UnavailableError    vLLM or the reward service did not answer for longer than its patience_seconds
├── StaleWeightsError   vLLM does not compute with the synced weights
└── TooManyFaultsError  too many samples have no verdict
"""

from __future__ import annotations


class TrainerError(Exception):
    """The run cannot continue; the message says why and what to do."""


class ConfigError(TrainerError):
    """The configuration, the data or the machine does not support the run."""


class UnavailableError(TrainerError):
    """A service did not answer in time."""


class StaleWeightsError(TrainerError):
    """vLLM's results do not match the trainer's weights."""


class TooManyFaultsError(TrainerError):
    """Too many samples have no verdict. An unknown reward is not 0, so the run stops."""


class InterruptedGenerationError(Exception):
    """The engine became unavailable during a request. It may return with other weights; the run goes on."""
