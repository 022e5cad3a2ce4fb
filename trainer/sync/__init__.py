"""Transfers weights to vLLM and verifies them, whole or as deltas; `syncer` chooses the transport."""

from trainer.sync.syncer import Syncer

__all__ = ["Syncer"]
