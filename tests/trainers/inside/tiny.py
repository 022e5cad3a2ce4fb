"""A tokenizer that knows bytes and nothing else, made on the spot: whatever a test says comes back as it was."""

# mypy: ignore-errors

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizer(alphabet=None):
    """256 bytes and the end, 257 tokens in all; or only some letters and the end."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet)
    vocabulary = {"<end>": 0} | {letter: number for number, letter in enumerate(letters, 1)}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token="<end>", pad_token="<end>", clean_up_tokenization_spaces=False
    )
