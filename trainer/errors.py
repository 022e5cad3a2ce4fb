"""The exceptions of a run; each message says what to change."""


class TrainerError(Exception):
    """The run cannot continue; the message says why and what to do."""


class ConfigError(TrainerError):
    """The configuration, the data or the machine does not support the run; raised before training starts."""


class UnavailableError(TrainerError):
    """vLLM or the reward service did not answer for longer than its `patience_seconds`."""


class StaleWeightsError(TrainerError):
    """vLLM's results do not match the trainer's weights."""


class TooManyFaultsError(TrainerError):
    """Too many samples have no verdict. An unknown reward is not 0, so the run stops."""


class WriteError(OSError):
    """A checkpoint or a model could not be written on some rank; raised on all ranks."""


class InterruptedGenerationError(Exception):
    """The engine became unavailable during a request. It may return with other weights; the run goes on."""
