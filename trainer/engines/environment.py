"""Environment variables of vLLM processes that the trainer starts. Those for CPUs are set only where there is no
GPU.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch

import trainer

CPU = {
    "TORCHDYNAMO_DISABLE": "1",  # otherwise the first sample waits for a compiler
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # otherwise every vLLM binds the same cores
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # one process less; vLLM 0.32 supports "uni" on a CPU only with it
}


def has_gpu() -> bool:
    """Return whether torch can use a GPU."""
    return torch.cuda.is_available()


def defaults() -> dict[str, str]:
    """Return the variables to set unless they are set already."""
    return {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING"} | ({} if has_gpu() else CPU)


def for_child() -> dict[str, str]:
    """Return the environment of a vLLM subprocess, which must find this package and expose its development API."""
    home = str(Path(trainer.__path__[0]).parent)
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return defaults() | os.environ | {"VLLM_SERVER_DEV_MODE": "1", "PYTHONPATH": path}
