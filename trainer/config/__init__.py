"""The settings of a run: typed and frozen, from a TOML file and `section.key=value` on the command line.

    sections.py       the sections, with each setting's meaning and default
    run.py            all of them, their changes during a run, and the checks that they fit each other
    algorithms.toml   the settings in which each published algorithm differs from the defaults
    files.py          reading a file, merging and overriding

Unknown keys are errors. A run saves its resolved settings as `config.json`, which can be given instead of the file, as
can the name of a shipped configuration in configs/.
"""

from trainer.config.files import CONFIGS, algorithms, load, merge, resolve, shipped
from trainer.config.run import Config, logprob_bound
from trainer.config.sections import Correction, Data, Duel, Kl, Lora, Loss, Optimiser, RewardService

__all__ = [
    "CONFIGS",
    "Config",
    "Correction",
    "Data",
    "Duel",
    "Kl",
    "Lora",
    "Loss",
    "Optimiser",
    "RewardService",
    "algorithms",
    "load",
    "logprob_bound",
    "merge",
    "resolve",
    "shipped",
]
