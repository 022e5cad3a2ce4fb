"""Tests of prompt formats with a byte-level tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from trainer.config import resolve
from trainer.config.sections import Data
from trainer.episode import Prompt
from trainer.errors import ConfigError
from trainer.prompts import Prompts

TESTS = [{"type": "stdin", "output": "2"}]
TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def tokenizer(template: str | None = TEMPLATE) -> PreTrainedTokenizerFast:
    """Bytes, and a beginning before every text, unless it is told otherwise."""
    vocabulary = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    vocabulary["<s>"] = len(vocabulary)
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])])
    load: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast
    return load(tokenizer_object=made, bos_token="<s>", chat_template=template)


def prompts(folder: Path, *lines: dict[str, Any], template: str | None = TEMPLATE, **data: Any) -> Prompts:
    path = folder / "problems.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(number), "tests": TESTS} | each) + "\n" for number, each in enumerate(lines))
    )
    return Prompts(Data(train=(str(path),), order="file", **data), tokenizer(template), seed=0)


def text(folder: Path, said: dict[str, Any], **data: Any) -> str:
    return str(tokenizer().decode(list(prompts(folder, said, **data).take(1)[0].ids)))


def test_chat_is_the_template_up_to_the_assistants_turn(tmp_path: Path) -> None:
    assert text(tmp_path, {"prompt": "add é"}) == "<user>add é<assistant>"


def test_chat_takes_whole_conversations(tmp_path: Path) -> None:
    turns = [{"role": role, "content": role[0]} for role in ("system", "user", "assistant", "user")]
    assert text(tmp_path, {"messages": turns}) == "<system>s<user>u<assistant>a<user>u<assistant>"


def test_our_system_text_comes_before_the_problems_own(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "theirs"}, {"role": "user", "content": "u"}]
    assert text(tmp_path, {"messages": turns}, system="ours") == "<system>ours\n\ntheirs<user>u<assistant>"


def test_plain_is_the_prompt_and_the_tokenizers_own_beginning(tmp_path: Path) -> None:
    assert text(tmp_path, {"prompt": "p\n"}, format="plain") == "<s>p\n"
    assert text(tmp_path, {"prompt": "p"}, format="plain", system="be brief") == "<s>be brief\n\np"


def test_a_prompt_carries_what_grading_needs(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, {"prompt": "p", "source": "hand", "limits": {"cpu_seconds": 1}}).take(1)
    assert (prompt.id, prompt.grading) == ("0", {"tests": TESTS, "limits": {"cpu_seconds": 1}})


def test_a_tokenizer_without_a_template_is_refused_unless_plain_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no chat template: set data\.format = 'plain'"):
        prompts(tmp_path, {"prompt": "p"}, template=None)
    assert len(prompts(tmp_path, {"prompt": "p"}, template=None, format="plain")) == 1


def test_a_conversation_cannot_be_plain(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"problems\.jsonl:1: data\.format is .plain. but the problem has messages"):
        prompts(tmp_path, {"messages": [{"role": "user", "content": "u"}]}, format="plain")


def test_what_the_template_refuses_is_said_with_its_place(tmp_path: Path) -> None:
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}x"
    with pytest.raises(ConfigError, match=r"problems\.jsonl:1: .*no system role"):
        prompts(tmp_path, {"prompt": "p"}, template=template, system="ours")


def test_long_prompts_are_left_out_and_counted(tmp_path: Path) -> None:
    made = prompts(
        tmp_path, {"prompt": "1234"}, {"prompt": "12345"}, {"prompt": "é1"}, format="plain", max_prompt_tokens=5
    )
    assert (len(made), made.problems.left_out) == (2, 1)
    assert [prompt.id for prompt in made.take(3)] == ["0", "2", "0"]


def test_the_probe_is_the_first_prompt_and_does_not_take_it(tmp_path: Path) -> None:
    made = prompts(tmp_path, {"prompt": "a"}, {"prompt": "b"}, format="plain")
    assert made.probe == list(made.take(1)[0].ids)
    with patch.object(Prompts, "_prompt", return_value=Prompt("a", [5], {})):
        assert made.probe == [5, 5], "one token predicts nothing"


def test_a_prompt_without_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no tokens"):
        prompts(tmp_path, {"prompt": "p"}, template="{# nothing #}")


def test_the_place_is_kept_and_found_again(tmp_path: Path) -> None:
    lines = [{"prompt": str(number)} for number in range(5)]
    made = prompts(tmp_path, *lines)
    made.take(7)
    again = prompts(tmp_path, *lines)
    again.mixture.restore(made.mixture.state())
    assert [prompt.id for prompt in again.take(4)] == [prompt.id for prompt in made.take(4)]


def test_a_prompt_is_found_by_its_id(tmp_path: Path) -> None:
    made = prompts(
        tmp_path, {"prompt": "a"}, {"prompt": "b"}, {"prompt": "too long"}, format="plain", max_prompt_tokens=5
    )
    assert made.by_id("1") == made.take(2)[1]
    for name in ("2", "nobody"):
        with pytest.raises(ConfigError, match=f"no problem '{name}'"):
            made.by_id(name)


def test_what_a_stage_asks_for_holds_from_the_next_prompt_on(tmp_path: Path) -> None:
    lines = [{"prompt": str(number), "difficulty": number / 10} for number in range(10)]
    made = prompts(tmp_path, *lines)
    assert [prompt.id for prompt in made.take(3)] == ["0", "1", "2"]
    made.select(Data(train=("x",), difficulty=(0.5, 0.6)))
    assert [prompt.id for prompt in made.take(3)] == ["5", "6", "5"]


def test_a_stage_without_problems_is_refused_before_the_run(tmp_path: Path) -> None:
    prompts(tmp_path, {"prompt": "p", "difficulty": 0.5})
    tokenizer().save_pretrained(tmp_path / "model")
    said = {"model": {"path": str(tmp_path / "model")}, "data": {"train": [str(tmp_path / "problems.jsonl")]}}
    Prompts.of(resolve(said | {"stages": [{"begin": 5, "data": {"difficulty": [0.5, 1]}}]}))
    with pytest.raises(ConfigError, match=r"from 0\.6 to 1"):
        Prompts.of(resolve(said | {"stages": [{"begin": 5, "data": {"difficulty": [0.6, 1]}}]}))


def test_the_tokenizer_is_the_models(tmp_path: Path) -> None:
    prompts(tmp_path, {"prompt": "p"})
    tokenizer().save_pretrained(tmp_path / "model")
    said = {"model": {"path": str(tmp_path / "model")}, "data": {"train": [str(tmp_path / "problems.jsonl")]}}
    assert len(Prompts.of(resolve(said)).take(1)[0].ids) == len("<user>p<assistant>")


def test_a_model_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(ConfigError, match=r"model\.path: no tokenizer"):
        Prompts.of(resolve({"model": {"path": str(tmp_path / "model")}, "data": {"train": ["x"]}}))
