"""How weights come to vLLM and into it, and that they did: file, gloo, nccl, ipc, direct; or a delta. See `syncer`."""

from trainer.sync.syncer import Synced, Syncer

__all__ = ["Synced", "Syncer"]
