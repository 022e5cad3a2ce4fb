"""What the tests of the trainer share."""

from __future__ import annotations

from tests.fake_service import quick
from tests.trainer.service_world import service
from tests.trainer.vllm_world import policy, world

__all__ = ["policy", "quick", "service", "world"]
