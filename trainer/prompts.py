"""A problem as the model sees it: text in the form that it was trained for, and the tokens of that.

chat          the tokenizer's own template, ended where the assistant begins to speak
think_answer  the same, with a system text that asks for thoughts and answer in tags, as Code-R1 does (use
              `reward.extraction = "answer_tag"` with it)
plain         the prompt as it is, for models that were never taught to chat

What is longer than `data.max_prompt_tokens` is left out and counted: a cut problem is another problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from jinja2 import TemplateError

from trainer.config import Config, Data
from trainer.data import Problem, Problems
from trainer.episode import Prompt
from trainer.errors import ConfigError
from trainer.mixture import Mixture

THINK_ANSWER = (
    "First work out how to solve the problem, between <think> and </think>. "
    "Then give the whole solution, in one fenced code block, between <answer> and </answer>. "
    "Only what is in the answer is graded."
)


class Tokenizer(Protocol):
    """What is needed of one; `transformers.PreTrainedTokenizerBase` is one."""

    chat_template: Any

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Token ids."""
        ...

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> Any:
        """Text, if `tokenize` is false."""
        ...


class Prompts:
    """The data of a run, prompt by prompt. Raises ConfigError if a file, a line or the tokenizer does not do."""

    def __init__(self, data: Data, tokenizer: Tokenizer, seed: int) -> None:
        if data.format != "plain" and not tokenizer.chat_template:
            raise ConfigError(
                f"data.format is {data.format!r}, but the model's tokenizer has no chat template: "
                "say data.format = 'plain', or take an instruction-tuned model"
            )
        self._data = data
        self._tokenizer = tokenizer
        self._problems = Problems([Path(each) for each in data.train], self._is_short_enough)
        self._mixture = Mixture(self._problems, seed, data.order)
        self.at(data)

    @classmethod
    def of(cls, config: Config) -> Prompts:
        """Of the configured files, with the model's own tokenizer."""
        from transformers import AutoTokenizer  # takes seconds

        try:
            tokenizer = AutoTokenizer.from_pretrained(config.model.path)
        except (OSError, ValueError) as trouble:
            raise ConfigError(f"model.path: no tokenizer in {config.model.path!r}: {trouble}") from None
        prompts = cls(config.data, tokenizer, config.seed)
        for plan in config.plans:
            prompts.check(plan.data)
        return prompts

    def __len__(self) -> int:
        """How many an epoch has."""
        return len(self._problems)

    @property
    def left_out(self) -> int:
        """How many were too long."""
        return self._problems.left_out

    @property
    def epoch(self) -> int:
        """Of the next prompt, from 0; with a mixture, of the source that was seen least often."""
        return self._mixture.epoch

    @property
    def first(self) -> Prompt:
        """Of the files, whatever was taken."""
        return self._prompt(self._problems[0])

    def by_id(self, name: str) -> Prompt:
        """Of the problem with this id, whatever was taken. Raises ConfigError if there is none."""
        return self._prompt(self._problems.by_id(name))

    def at(self, data: Data) -> None:
        """From here on: this mixture and this range of difficulty, of what a stage says. ConfigError: see `check`."""
        self._mixture.choose(data.mixture, data.difficulty)

    def check(self, data: Data) -> None:
        """Raises ConfigError if `at` would: a source without a name or a share, or without problems so hard."""
        self._mixture.check(data.mixture, data.difficulty)

    def take(self, count: int) -> list[Prompt]:
        """The next, from one epoch into the next."""
        return [self._prompt(problem) for problem in self._mixture.take(count)]

    def state(self) -> dict[str, Any]:
        """Where we are, for a checkpoint: plain data."""
        return self._mixture.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there, with what held there. Raises ConfigError if the data is not the same."""
        self._mixture.restore(state)

    def _prompt(self, problem: Problem) -> Prompt:
        return Prompt(problem.id, encode(problem, self._data, self._tokenizer), problem.grading, problem.source)

    def _is_short_enough(self, problem: Problem) -> bool:
        return len(encode(problem, self._data, self._tokenizer)) <= self._data.max_prompt_tokens


def encode(problem: Problem, data: Data, tokenizer: Tokenizer) -> list[int]:
    """Token ids of the prompt. Raises ConfigError.

    A chat template writes its special tokens itself. To plain text the tokenizer adds its own, as vLLM does with text:
    a beginning, for models that want one.
    """
    if data.format == "plain":
        ids = tokenizer.encode(_plain(problem, data))
    else:
        ids = tokenizer.encode(_chat(problem, data, tokenizer), add_special_tokens=False)
    if not ids:
        raise ConfigError(f"{problem.place}: the prompt has no tokens")
    return list(ids)


def conversation(problem: Problem, data: Data) -> list[dict[str, str]]:
    """The problem's messages, with our system text before its own."""
    ours = data.system or (THINK_ANSWER if data.format == "think_answer" else "")
    theirs, rest = _system_apart(problem.messages)
    system = "\n\n".join(text for text in (ours, theirs) if text)
    return [{"role": "system", "content": system}, *rest] if system else rest


def _plain(problem: Problem, data: Data) -> str:
    if problem.text is None:
        raise ConfigError(f"{problem.place}: messages cannot be plain: give a prompt, or say data.format = 'chat'")
    return f"{data.system}\n\n{problem.text}" if data.system else problem.text


def _chat(problem: Problem, data: Data, tokenizer: Tokenizer) -> str:
    try:
        text = tokenizer.apply_chat_template(conversation(problem, data), tokenize=False, add_generation_prompt=True)
    except (TemplateError, ValueError) as trouble:
        raise ConfigError(f"{problem.place}: the tokenizer's chat template refuses this: {trouble}") from None
    return str(text)


def _system_apart(messages: Sequence[Mapping[str, str]]) -> tuple[str, list[dict[str, str]]]:
    turns = [dict(each) for each in messages]
    if turns[0]["role"] == "system":
        return turns[0]["content"], turns[1:]
    return "", turns
