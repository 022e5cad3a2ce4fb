"""Languages that the service can grade, with their versions, for routes that list them under names of their own."""

from __future__ import annotations

import asyncio

from sandbox_service.api.compat.program_run import python_version
from sandbox_service.languages import LANGUAGES, toolchains
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings


async def versions(queue: JobQueue, settings: Settings) -> dict[str, str]:
    """Return the version of each language by name; empty where it is not known.

    In a fleet all languages are listed, without versions: what a worker lacks is refused when it is submitted.

    Args:
        queue: The queue.
        settings: The service's settings.
    """
    if settings.redis_url:
        found = {each.name: "" for each in LANGUAGES}
    else:
        described = await asyncio.to_thread(toolchains.versions)
        found = {"text": "", **{name: text.partition(":")[0] for name, text in described.items()}}
    return {**found, "python": python_version(queue)}
