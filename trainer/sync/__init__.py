"""Transfers weights to vLLM and verifies them, whole or as deltas.

    memory     to a vLLM in this process
    broadcast  to servers over NCCL, or gloo where there is no GPU
    file       to servers that see the folder `sync.folder`

`syncer` chooses one of them.
"""

from trainer.sync.syncer import Syncer

__all__ = ["Syncer"]
