"""Environment variables of a vLLM that we start. Those for a CPU are set only where there is no GPU."""

from __future__ import annotations

import os
from pathlib import Path

import torch

import trainer

CPU = {
    "TORCHDYNAMO_DISABLE": "1",  # else the first sample waits for a compiler
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # else each vLLM binds the same cores
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # one process less: vLLM 0.32 takes "uni" on a CPU only with it
}


def has_gpu() -> bool:
    """Whether this machine has one that torch can use."""
    return torch.cuda.is_available()


def defaults() -> dict[str, str]:
    """What is set unless somebody has set it."""
    return {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING"} | ({} if has_gpu() else CPU)


def for_child() -> dict[str, str]:
    """The whole environment of a vLLM in a process of its own, which must find this package and let us in."""
    home = str(Path(trainer.__path__[0]).parent)
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return defaults() | os.environ | {"VLLM_SERVER_DEV_MODE": "1", "PYTHONPATH": path}
