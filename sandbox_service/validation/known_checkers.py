"""Checker programs for problems of data sets that have none: a TOML file that a recipe names.

A key names problems: the last part of their id begins with it (`1041_e` is `codecontests/1041_e_tree_reconstruction`).
A value is the source of a checker program of the protocol `function`, or another key whose source is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram, StdinTest
from sandbox_service.validation import toml_files

FUNCTION = re.compile(r"^def check\(", re.MULTILINE)


class KnownCheckers:
    """The checker programs of a file. Without a file there are none."""

    def __init__(self, sources: Mapping[str, str] | None = None) -> None:
        self._programs = {
            name: JudgeProgram(type="program", protocol="function", source=source)
            for name, source in (sources or {}).items()
        }

    @classmethod
    def read(cls, path: str) -> KnownCheckers:
        """Return the checkers of a file; none if the path is empty.

        Args:
            path: a TOML file.

        Raises:
            ConfigurationError: it cannot be read, or a value is no checker.
        """
        if not path:
            return cls()
        found = toml_files.read(Path(path))
        sources = {name: found.get(source, source) if isinstance(source, str) else "" for name, source in found.items()}
        for name, source in sources.items():
            if not isinstance(source, str) or not FUNCTION.search(source):
                raise ConfigurationError(f"{path}: {name} has no function check(input, output, answer)")
        return cls(sources)

    def applied(self, problem: Problem) -> Problem:
        """Return the problem with the checker that is known for it.

        A problem that has a checker program stays as it is, as does one whose tests are no programs' outputs.

        Args:
            problem: any problem.
        """
        program = self._program_of(problem.id.rpartition("/")[2])
        if program is None or isinstance(problem.checker, JudgeProgram) or problem.tests is None:
            return problem
        if not all(isinstance(test, StdinTest) and isinstance(test.output, str) for test in problem.tests):
            return problem
        return problem.model_copy(update={"checker": program})

    def _program_of(self, name: str) -> JudgeProgram | None:
        return next((each for key, each in self._programs.items() if name == key or name.startswith(f"{key}_")), None)
