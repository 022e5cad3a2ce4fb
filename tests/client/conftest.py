"""What the tests of the client share."""

from __future__ import annotations

from tests.fake_service import quick

__all__ = ["quick"]
