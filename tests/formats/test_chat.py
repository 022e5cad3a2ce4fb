"""Extraction of the answer from a conversation's text, whatever the tokenizer did to the rest."""

from __future__ import annotations

import time

import pytest

from sandbox_service.errors import BadRequestError
from sandbox_service.formats import chat
from sandbox_service.judging import turn_ends

PROMPT = "<|im_start|>user\nAdd.\n```python\nexample\n```<|im_end|>\n<|im_start|>assistant\n"
ANSWER = "```python\nprint(1)\n```"


@pytest.mark.parametrize(
    "end", [*turn_ends.ENDS, "", "<|im_end|>\n", "<|im_end|>\n<|endoftext|><|endoftext|>", "</s></s>\n"]
)
def test_the_end_of_a_turn_is_no_part_of_it(end: str) -> None:
    assert chat.response(PROMPT + ANSWER + end, PROMPT).rstrip() == ANSWER


def test_tokens_within_an_answer_stay() -> None:
    assert turn_ends.without_end("print('</s>')") == "print('</s>')"


@pytest.mark.parametrize(
    ("query", "prompt"),
    [
        ("a b" + ANSWER, "a b"),
        ("<s> a b" + ANSWER, "a b"),
        ("<|begin_of_text|><s>a b" + ANSWER, "a b"),
        ("[BOS]a  b\n" + ANSWER, "a b\n"),
        ("a\n b" + ANSWER, "a b\n"),
        ("<s> Say <b>x</b>." + ANSWER, "Say <b>x</b>."),
        (ANSWER, ""),
        (PROMPT + ANSWER, ""),
        (PROMPT.replace("Add.", "Add\ufffd") + ANSWER, PROMPT),
        ("[INST] what [/INST]" + ANSWER, "[INST] wh\u00e4t [/INST]"),
    ],
)
def test_the_prompt_is_left_out(query: str, prompt: str) -> None:
    assert chat.response(query, prompt).strip() == ANSWER


def test_a_prompt_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadRequestError, match="does not begin with the prompt"):
        chat.response("something else\n" + ANSWER, "Add.")


def test_an_answer_that_begins_again_is_what_follows() -> None:
    assert chat.response("x<|im_start|>assistant\ny<|im_start|>assistant\nz", "") == "z"


def test_a_thought_that_the_prompt_opened_is_open() -> None:
    assert chat.response("Add.<think>\nhm</think>1", "Add.<think>\n") == "<think>hm</think>1"
    assert chat.continued("<think>", "hm") == "<think>hm"
    assert chat.continued("<think></think>", "hm") == "hm"


def test_long_texts_take_no_time() -> None:
    begin = time.process_time()
    for text in ("<" * 1_000_000, "<s>" * 300_000, "a " * 500_000, "\n" * 1_000_000):
        chat.response(f"b {text}{ANSWER}", f"b{text}")
        turn_ends.without_end(text)
        with pytest.raises(BadRequestError):
            chat.response(text, text + "b")
    assert turn_ends.without_end("</s>" * 10_000) == ""
    assert time.process_time() - begin < 10
