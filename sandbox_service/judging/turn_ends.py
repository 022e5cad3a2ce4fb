"""The special tokens that end the text of a model, for trainers that keep them."""

from __future__ import annotations

ENDS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "<|return|>",
    "<end_of_turn>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<pad>", "<|pad|>", "[PAD]", "<|finetune_right_pad_id|>",
)  # fmt: skip
MOST_ENDS = 100_000


def without_end(text: str) -> str:
    """Return the text without trailing tokens that end a turn or pad a batch, at most `MOST_ENDS` of them.

    Args:
        text: Of a model.
    """
    if not text.rstrip().endswith(ENDS):
        return text
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
