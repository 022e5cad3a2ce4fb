"""Whoever answers JSON over HTTP, as a run meets him: the service's own client, whose errors become a run's.

The reward service is one, and so is a model's server that an evaluation asks. How patient one is with him is the
client's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox_service.client import errors, service
from sandbox_service.client.service import Answer, Peer, pauses, said
from trainer.errors import Away, ConfigError

__all__ = ["Answer", "Peer", "Service", "as_ours", "pauses", "said"]


@contextmanager
def as_ours() -> Iterator[None]:
    """What another try would not change is the configuration's fault, or the data's."""
    try:
        yield
    except errors.Away as away:
        raise Away(str(away)) from None
    except (errors.Refused, errors.Stranger) as refused:
        raise ConfigError(str(refused)) from None


class Service:
    """The client's, raising Away and ConfigError. To be used and closed in one event loop."""

    def __init__(self, peer: Peer, notice: Callable[[str], None]) -> None:
        with as_ours():
            self._service = service.Service(peer, notice)

    @property
    def url(self) -> str:
        """For messages."""
        return self._service.url

    async def close(self) -> None:
        """Let go of the connections."""
        await self._service.close()

    async def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Answer]:
        """Status and JSON, once there is somebody to give it."""
        with as_ours():
            return await self._service.ask(method, path, body)

    def refusal(self, status: int, answer: Mapping[str, Any], what: str) -> ConfigError:
        """For an answer that another try would not change."""
        return ConfigError(str(self._service.refusal(status, answer, what)))

    def stranger(self, words: str) -> ConfigError:
        """For an answer that no such service gives."""
        return ConfigError(str(self._service.stranger(words)))
