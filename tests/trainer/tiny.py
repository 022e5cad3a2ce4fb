"""See examples/tiny.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from examples.tiny import tiny_model, tiny_tokenizer

__all__ = ["save_tiny", "tiny_model", "tiny_tokenizer"]


def save_tiny(folder: Path, **shape: Any) -> Path:
    """Save a tiny model and its tokenizer in Hugging Face's format.

    Args:
        folder: The folder.
        shape: Arguments of `tiny_model`.

    Returns:
        The folder.
    """
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer, **shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
