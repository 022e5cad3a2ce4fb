"""Converts problems to token ids in the prompt format of the model.

chat          the tokenizer's chat template, up to the start of the assistant's turn
think_answer  the same, with a system text that asks for reasoning and answer in tags, as Code-R1 does (use
              `reward.extraction = "answer_tag"` with it)
plain         the prompt unchanged, for base models

Prompts longer than `data.max_prompt_tokens` are skipped and counted: a truncated problem is a different problem.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from trainer.config import Config, Data, Duel
from trainer.data import Problem, Problems
from trainer.duel.question import question_for
from trainer.episode import Prompt
from trainer.errors import ConfigError
from trainer.mixture import Mixture

if TYPE_CHECKING:  # slow import
    from transformers import PreTrainedTokenizerBase

THINK_ANSWER = (
    "First work out how to solve the problem, between <think> and </think>. "
    "Then give the whole solution, in one fenced code block, between <answer> and </answer>. "
    "Only what is in the answer is graded."
)


class Prompts:
    """The prompts of a run. `mixture` has the position in the problems."""

    def __init__(self, data: Data, tokenizer: PreTrainedTokenizerBase, seed: int, duel: Duel = Duel()) -> None:  # noqa: B008 - frozen
        if data.format != "plain" and not tokenizer.chat_template:
            raise ConfigError(
                f"data.format is {data.format!r}, but the model's tokenizer has no chat template: "
                "set data.format = 'plain', or use an instruction-tuned model"
            )
        self._data = data
        self._duel = duel
        self._tokenizer = tokenizer

        def is_short_enough(problem: Problem) -> bool:
            prompt = self._prompt(problem)
            return all(len(each.ids) <= data.max_prompt_tokens for each in (prompt, prompt.tester) if each)

        self.problems = Problems([Path(each) for each in data.train], is_short_enough)
        self.mixture = Mixture(self.problems, seed, data.order)
        self.select(data)

    @classmethod
    def of(cls, config: Config) -> Prompts:
        """Return the prompts of the configured files, after checking the data settings of all stages.

        Raises:
            ConfigError: A file, a line or a stage's choice is invalid, or the tokenizer does not support the format.
        """
        from transformers import AutoTokenizer  # slow import

        try:
            tokenizer = AutoTokenizer.from_pretrained(config.model.path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"model.path: no tokenizer in {config.model.path!r}: {error}") from None
        prompts = cls(config.data, tokenizer, config.seed, config.duel)
        for plan in config.stage_configs:
            prompts.mixture.check(plan.data.mixture, plan.data.difficulty)
        return prompts

    def __len__(self) -> int:
        return len(self.problems)

    @property
    def first(self) -> Prompt:
        """The first prompt, independent of the position."""
        return self._prompt(self.problems[0])

    @property
    def probe(self) -> list[int]:
        """The first prompt's token ids; twice if there is one, which predicts nothing."""
        ids = list(self.first.ids)
        return ids if len(ids) > 1 else ids * 2

    def by_id(self, name: str) -> Prompt:
        """Return the prompt of a problem by its id (name), independent of the position."""
        return self._prompt(self.problems.by_id(name))

    def select(self, data: Data) -> None:
        """Apply a stage's mixture and difficulty range to the following prompts; see `Mixture.select`."""
        self.mixture.select(data.mixture, data.difficulty)

    def take(self, count: int) -> list[Prompt]:
        """Return the next prompts, `count` of them, across epochs."""
        return [self._prompt(problem) for problem in self.mixture.take(count)]

    def decode(self, prompt: Prompt) -> str:
        """Return a prompt as text, with its special tokens."""
        return str(self._tokenizer.decode(list(prompt.ids)))

    def _prompt(self, problem: Problem) -> Prompt:
        asked = self._asked(problem)
        if self._duel.testers:
            asked = replace(asked, tester=self._asked(question_for(problem, self._duel.ask, self._duel.cases)))
        return asked

    def _asked(self, problem: Problem) -> Prompt:
        ids, messages = encode(problem, self._data, self._tokenizer), conversation(problem, self._data)
        return Prompt(problem.id, ids, problem.grading, messages=messages)


def encode(problem: Problem, data: Data, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the token ids of a problem's prompt in the format of data.

    A chat template writes its special tokens itself. For plain text the tokenizer adds its own (a beginning-of-sequence
    token for some models), as vLLM does.

    Raises:
        ConfigError: The prompt is empty or does not fit the format.
    """
    is_plain = data.format == "plain"
    if is_plain and problem.text is None:
        raise ConfigError(
            f"{problem.place}: data.format is 'plain' but the problem has messages: "
            "give a prompt, or set data.format = 'chat'"
        )
    turns, more = conversation(problem, data), dict(data.template)
    try:
        text: Any = (
            "\n\n".join(each["content"] for each in turns)
            if is_plain
            else tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **more)
        )
    except (TemplateError, ValueError, TypeError) as error:  # TypeError: an argument of data.template
        raise ConfigError(f"{problem.place}: the tokenizer's chat template refuses this: {error}") from None
    ids = tokenizer.encode(text, add_special_tokens=is_plain)
    if not ids:
        raise ConfigError(f"{problem.place}: the prompt has no tokens")
    return list(ids)


def conversation(problem: Problem, data: Data) -> list[dict[str, str]]:
    """Return the problem's messages, with the configured system text before its own."""
    ours = data.system or (THINK_ANSWER if data.format == "think_answer" else "")
    turns = [dict(each) for each in problem.messages]
    theirs = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
    system = "\n\n".join(text for text in (ours, theirs) if text)
    return [{"role": "system", "content": system}, *turns] if system else turns
