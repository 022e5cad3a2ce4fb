"""A tokenizer of bytes, made on the spot: every text is decoded unchanged."""

# mypy: ignore-errors

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizer(alphabet=None):
    """Return a tokenizer of 256 bytes and an end token, or of some letters and an end token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet)
    vocabulary = {"<end>": 0} | {letter: number for number, letter in enumerate(letters, 1)}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token="<end>", pad_token="<end>", clean_up_tokenization_spaces=False
    )
