"""Completions of a model, kept in a journal: a run that is resumed requests only missing ones."""

from __future__ import annotations

import asyncio
import hashlib
import json

from sandbox_service.validation.completions import Completion
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.model import Completer, Messages
from sandbox_service.validation.recipe import Endpoint

FORM = "samples 1"  # fingerprint of the journal of completions, which does not depend on a recipe


class Sampler:
    """Requests completions once.

    Args:
        options: The sampling, a part of each completion's key.
        model: Completes prompts.
        journal: Keeps the completions.
    """

    def __init__(self, options: Endpoint, model: Completer, journal: Journal) -> None:
        self._options = options
        self._model = model
        self._journal = journal
        self._asking: dict[str, asyncio.Task[Completion]] = {}
        self.asked_now = 0

    async def stop(self) -> None:
        """Cancel all requests and wait until they have ended."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def completion(self, messages: Messages, number: int) -> Completion:
        """Return a completion from the journal, from a request under way, or from a new request.

        Args:
            messages: The conversation.
            number: Tells completions of the same conversation apart.

        Raises:
            ModelRefusedError: The endpoint refuses this prompt.
            ConfigurationError: The endpoint refuses every prompt.
            UnavailableError: The endpoint was unavailable for too long.
        """
        key = self._key(messages, number)
        if (known := self._journal.get(key)) is not None:
            return Completion(known["text"], known["finish"] == "length", known["tokens"])
        if key not in self._asking:
            task = asyncio.create_task(self._new(key, messages))
            task.add_done_callback(lambda _: self._asking.pop(key, None))
            self._asking[key] = task
        return await asyncio.shield(self._asking[key])

    async def _new(self, key: str, messages: Messages) -> Completion:
        made = await self._model.ask(messages, int(key[:8], 16) >> 1)
        self.asked_now += 1
        finish = "length" if made.is_cut else "stop"
        self._journal.put(key, {"text": made.text, "finish": finish, "tokens": made.tokens})
        return made

    def _key(self, messages: Messages, number: int) -> str:
        """A hash of all that the completion depends on; the seed is derived from it."""
        wanted = self._options
        drawn = [wanted.model, wanted.temperature, wanted.top_p, wanted.max_tokens, wanted.seed, wanted.extra]
        return hashlib.sha256(json.dumps([*drawn, list(messages), number], sort_keys=True).encode()).hexdigest()
