"""Keeps wrong programs of earlier steps, from which testers' cases must tell right ones as well.

Once the solver is good, few groups have a wrong program, and without one the testers' answers are masked. The hidden
tests have judged these programs, so that "wrong" stays true whatever the policies have learnt since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from trainer.episode import Group

TEXT_LENGTH = 256 << 20  # characters of all programs together; the problems that were sampled longest ago go first


class EarlierPrograms:
    """The newest different wrong completions of each problem, at most `count` a problem."""

    def __init__(self, count: int, text_length: int = TEXT_LENGTH) -> None:
        self._count = count
        self._left = text_length
        self._texts: OrderedDict[str, list[str]] = OrderedDict()

    def of(self, problem: str) -> list[str]:
        """Return the programs of a problem, the oldest first."""
        return list(self._texts.get(problem, ()))

    def add(self, group: Group) -> None:
        """Add the programs of a group's wrong solutions. One that ended at the token limit may be half a program."""
        whole = [each for each in group.episodes if each.role == "solver" and not each.completion.is_truncated]
        graded = [each for each in whole if each.reward.has_program and not each.reward.is_fault]
        texts = [each.completion.text for each in graded if each.reward.verdict != "AC"]
        old = [text for text in self.of(group.prompt.id) if text not in texts]
        self._put(group.prompt.id, [*old, *dict.fromkeys(texts)][-self._count :] if self._count else [])

    def state(self) -> dict[str, list[str]]:
        return dict(self._texts)

    def restore(self, state: Mapping[str, Sequence[str]]) -> None:
        for problem, texts in state.items():
            self._put(problem, list(texts))

    def _put(self, problem: str, texts: list[str]) -> None:
        self._left += sum(map(len, self._texts.pop(problem, ())))
        if texts:
            self._texts[problem] = texts
            self._left -= sum(map(len, texts))
        while self._left < 0:
            _, forgotten = self._texts.popitem(last=False)
            self._left += sum(map(len, forgotten))
