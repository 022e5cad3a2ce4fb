"""Fixtures of the client's tests."""

from __future__ import annotations

from tests.fake_service import quick

__all__ = ["quick"]
