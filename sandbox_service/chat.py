"""What a model answered, out of the text of a whole conversation. Templates of chats are told by their tokens."""

from __future__ import annotations

import re

from sandbox_service.errors import BadRequest
from sandbox_service.judging.extraction import THINK_OPEN

ENDS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "<|return|>",
    "<end_of_turn>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<pad>", "<|pad|>", "[PAD]", "<|finetune_right_pad_id|>",
)  # fmt: skip
# where a model's turn begins
TURN = re.compile(
    r"<\|im_start\|>assistant\n|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model\n"
    r"|<\|assistant\|>|<｜Assistant｜>|\[/INST\]"
)
MARK = re.compile(r"\s*(<[^<>\s]{1,40}>|\[[A-Z]{2,5}\])")  # what a tokenizer puts before a text
MOST_MARKS = 3
MOST_ENDS = 100_000


def response(query: str, prompt: str) -> str:
    """What follows the prompt in a text of both, without the tokens that end a turn.

    A tokenizer may have put tokens before the prompt and changed white space in it. Raises BadRequest if neither the
    prompt is found nor a mark where a model's turn begins: a program in the prompt could be taken for the answer.
    """
    answer = _after(query, prompt) if prompt else None
    if answer is None:
        *_, answer = TURN.split(query)  # a model that writes such a mark begins its own answer again
        if prompt and answer == query:
            raise BadRequest("query: it does not begin with its prompt, and no mark says where the answer begins")
    return continued(prompt, answer)


def continued(prompt: str, answer: str) -> str:
    """An answer without the tokens that end a turn; with the opening of its thought, if the prompt ends with that."""
    opening = THINK_OPEN if prompt.rstrip().endswith(THINK_OPEN) else ""
    return opening + without_end(answer)


def without_end(text: str) -> str:
    """A text without the tokens that end a turn or fill a batch; of those, at most `MOST_ENDS`."""
    cut = len(text)
    for _ in range(MOST_ENDS):
        end = _before_space(text, cut)
        found = next((mark for mark in ENDS if text.endswith(mark, 0, end)), None)
        if found is None:
            break
        cut = end - len(found)
    return text[:cut]


def _before_space(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _after(query: str, prompt: str) -> str | None:
    """What follows the prompt, or None if it is not there."""
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
    """Where so many characters that are no white space have passed."""
    for word in re.finditer(r"\S+", text):
        length = word.end() - word.start()
        if length >= characters:
            return word.start() + characters
        characters -= length
    return len(text)
