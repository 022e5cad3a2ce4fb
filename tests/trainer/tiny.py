"""See trainer/tiny.py."""

from trainer.tiny import save_tiny, tiny_model, tiny_tokenizer

__all__ = ["save_tiny", "tiny_model", "tiny_tokenizer"]
