"""Transfers weights to vLLM and verifies them, whole or as deltas. See `syncer`.

    memory     to a vLLM in this process
    broadcast  to servers over NCCL, or gloo where there is no GPU
    file       to servers that see the folder `sync.folder`

`sync.transport` selects one of the last two; "auto" takes the first that can be used.
"""

from trainer.sync.syncer import Syncer

__all__ = ["Syncer"]
