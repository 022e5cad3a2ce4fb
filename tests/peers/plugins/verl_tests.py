"""A pytest plugin for verl's tests of its client of SandboxFusion, which takes the address from a variable.

verl's own `__init__` modules import torch and ray, which the client does not need: packages without them stand in.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(os.environ["PEERS_FOLDER"])
PACKAGES = ("verl", "verl.utils", "verl.utils.reward_score")

os.environ["SANDBOX_FUSION_URL"] = f"{os.environ['PEERS_URL']}/run_code"
for name in PACKAGES:
    package = ModuleType(name)
    package.__path__ = [str(FOLDER / name.replace(".", "/"))]
    sys.modules[name] = package
