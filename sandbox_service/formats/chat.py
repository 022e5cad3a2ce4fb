"""Extracts a model's answer from the text of a conversation. Chat templates are recognized by their special tokens."""

from __future__ import annotations

import re

from sandbox_service.errors import BadRequestError
from sandbox_service.judging.extraction import THINK_OPEN
from sandbox_service.judging.turn_ends import without_end

# the start of a model's turn
TURN = re.compile(
    r"<\|im_start\|>assistant\n|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model\n"
    r"|<\|assistant\|>|<｜Assistant｜>|\[/INST\]"
)
MARK = re.compile(r"\s*(<[^<>\s]{1,40}>|\[[A-Z]{2,5}\])")  # a special token that a tokenizer adds before a text
MOST_MARKS = 3


def response(query: str, prompt: str | None) -> str:
    """Return the text after the prompt, without the tokens that end a turn.

    The tokenizer may have added tokens before the prompt and changed its white space.

    Args:
        query: The prompt and the answer.
        prompt: The prompt; None if unknown.

    Raises:
        BadRequestError: Neither the prompt nor the start of a model's turn was found. A program in the prompt could be
            taken for the answer then.
    """
    answer = _after(query, prompt) if prompt else None
    if answer is None:
        *_, answer = TURN.split(query)  # a model that writes such a mark restarts its answer
        if answer == query and prompt != "":
            begin = "the prompts are missing" if prompt is None else "query does not begin with the prompt"
            raise BadRequestError(f"{begin}, and no special token marks the start of the answer")
    return continued(prompt or "", answer)


def continued(prompt: str, answer: str) -> str:
    """Return the answer without the tokens that end a turn, preceded by `<think>` if the prompt ends with it."""
    opening = THINK_OPEN if prompt.rstrip().endswith(THINK_OPEN) else ""
    return opening + without_end(answer)


def _after(query: str, prompt: str) -> str | None:
    """Return the text after the prompt, or None if the query does not begin with it."""
    if query.startswith(prompt):
        return query[len(prompt) :]
    wanted = "".join(prompt.split())
    for _ in range(MOST_MARKS + 1):
        if "".join(query.split()).startswith(wanted):
            return query[_end_of(query, len(wanted)) :]
        mark = MARK.match(query)
        if mark is None:
            break
        query = query[mark.end() :]
    return None


def _end_of(text: str, characters: int) -> int:
    """Return the position after this many characters that are not white space."""
    for word in re.finditer(r"\S+", text):
        length = word.end() - word.start()
        if length >= characters:
            return word.start() + characters
        characters -= length
    return len(text)
