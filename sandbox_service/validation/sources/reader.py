"""The interface of readers: recognising rows, and making problems of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sandbox_service.errors.fields import describe
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources.rows import Row

# Raised by code that expects another shape of row.
_UNEXPECTED = (IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Reader:
    """A format. `is_mine` looks at field names only; `make` may assume that a row is as published."""

    name: str
    about: str
    is_mine: Callable[[Row], bool]
    make: Callable[[Row], Problem]

    def __call__(self, row: Row) -> Problem:
        """Return the problem in a row. Raises ValueError with a reason for people."""
        try:
            problem = self.make(row)
            problem.model_dump_json()
        except ValidationError as trouble:
            raise ValueError(describe(trouble, whole="the problem")) from None
        except PydanticSerializationError as trouble:  # a lone surrogate is text in Python only
            raise ValueError(f"the problem cannot be written: {trouble}") from None
        except KeyError as trouble:
            raise ValueError(f"field {trouble} is missing") from None
        except _UNEXPECTED as trouble:
            raise ValueError(f"not in the form of {self.name}: {type(trouble).__name__}: {trouble}") from None
        return problem
