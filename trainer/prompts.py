"""Converts problems to token ids in the prompt format of the model.

chat     the tokenizer's chat template, up to the start of the assistant's turn
plain    the prompt unchanged, for base models

Prompts longer than `data.max_prompt_tokens` are skipped and counted: a truncated problem is a different problem.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from trainer.config import Config
from trainer.config.sections import Data, Duel
from trainer.data import Problem, Problems
from trainer.duel.question import question_for
from trainer.episode import Prompt
from trainer.errors import ConfigError
from trainer.mixture import Mixture

if TYPE_CHECKING:  # slow import
    from transformers import PreTrainedTokenizerBase


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
        """Return the prompts of the configured files, checked for the settings of all stages. Raise ConfigError."""
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
        """Return the prompt of a problem or of a question. Raise ConfigError if it is empty or not of the format."""
        is_plain = self._data.format == "plain"
        if is_plain and problem.text is None:
            raise ConfigError(
                f"{problem.place}: data.format is 'plain' but the problem has messages: "
                "give a prompt, or set data.format = 'chat'"
            )
        turns = conversation(problem, self._data.system)
        text: Any = "\n\n".join(each["content"] for each in turns)
        if not is_plain:
            more = dict(self._data.template)
            try:
                text = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **more)
            except (TemplateError, ValueError, TypeError) as error:  # TypeError: an argument of data.template
                raise ConfigError(f"{problem.place}: the tokenizer's chat template refuses this: {error}") from None
        ids = self._tokenizer.encode(text, add_special_tokens=is_plain)  # as vLLM does; a template has its own
        if not ids:
            raise ConfigError(f"{problem.place}: the prompt has no tokens")
        return Prompt(problem.id, list(ids), problem.grading, messages=turns)


def conversation(problem: Problem, ours: str) -> list[dict[str, str]]:
    """Return the problem's messages, with our system text before its own."""
    turns = [dict(each) for each in problem.messages]
    theirs = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
    system = "\n\n".join(text for text in (ours, theirs) if text)
    return [{"role": "system", "content": system}, *turns] if system else turns
