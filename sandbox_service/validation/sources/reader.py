"""What a reader is: how its rows are known, and how one becomes a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sandbox_service.problem import Problem
from sandbox_service.validation.sources.rows import Row

SHOWN_ERRORS = 5

# What a function that expects one shape raises when it meets another.
_UNEXPECTED = (IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Reader:
    """`is_mine` looks at the fields of a row only; `make` need not mind what is not as published."""

    name: str
    about: str
    is_mine: Callable[[Row], bool]
    make: Callable[[Row], Problem]

    def __call__(self, row: Row) -> Problem:
        """The problem in a row. Raises ValueError with a reason that a person can read."""
        try:
            problem = self.make(row)
            problem.model_dump_json()
        except ValidationError as trouble:
            raise ValueError(_described(trouble)) from None
        except PydanticSerializationError as trouble:  # half a surrogate pair is text for Python, and for nobody else
            raise ValueError(f"it cannot be written: {trouble}") from None
        except KeyError as trouble:
            raise ValueError(f"field {trouble} is missing") from None
        except _UNEXPECTED as trouble:
            raise ValueError(f"not as {self.name} has it: {type(trouble).__name__}: {trouble}") from None
        return problem


def _described(error: ValidationError) -> str:
    """What is wrong, without the values: they may be large."""
    shown = error.errors(include_url=False, include_context=False, include_input=False)[:SHOWN_ERRORS]
    parts = [f"{'.'.join(map(str, each['loc'])) or 'the problem'}: {each['msg']}" for each in shown]
    more = error.error_count() - len(shown)
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
