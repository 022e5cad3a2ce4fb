"""The settings of a run: typed and frozen. Unknown keys are errors.

`sections` has each setting with its meaning and default, `run` all of them together, algorithms.toml the constants of
each published algorithm; `files` reads configurations.
"""

from trainer.config.files import CONFIGS, algorithms, load, merge, resolve, shipped
from trainer.config.run import Config, logprob_bound

__all__ = ["CONFIGS", "Config", "algorithms", "load", "logprob_bound", "merge", "resolve", "shipped"]
