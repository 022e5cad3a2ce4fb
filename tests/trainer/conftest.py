"""Fixtures shared by the trainer's tests."""

from __future__ import annotations

from tests.fake_service import quick
from tests.trainer.demo_world import warm, warm_model
from tests.trainer.service_world import service
from tests.trainer.vllm_world import policy, world

__all__ = ["policy", "quick", "service", "warm", "warm_model", "world"]
