"""Imports what a run imports slowly: torch, transformers, DeepSpeed and vLLM. See tests/trainer/launcher.py.

DeepSpeed collects garbage as it starts, and vLLM too: what is imported here is left out, which saves 0.3 s each time.
"""

from __future__ import annotations

import gc
import importlib
import os
from unittest.mock import patch

from trainer.engines.process import environment

SLOW_TO_IMPORT = (
    "trainer.train",
    "transformers.models.auto.modeling_auto",
    "transformers.models.qwen2.modeling_qwen2",
    "deepspeed.runtime.zero.muon.muon_optimizer",
    "deepspeed.runtime.superoffload.superoffload_stage3",
)
VLLM = ("vllm", "vllm.entrypoints.llm", "vllm.v1.engine.llm_engine")

for name in SLOW_TO_IMPORT:
    importlib.import_module(name)
# vLLM reads some variables as it is imported; trainer/engines/colocated.py sets the same ones
with patch.dict(os.environ, environment(is_float32=True) | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}):
    for name in VLLM:
        importlib.import_module(name)

gc.collect()
gc.freeze()
