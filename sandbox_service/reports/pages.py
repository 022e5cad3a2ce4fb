"""Renders HTML pages from Jinja2 templates, with autoescape, and writes them in one step."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sandbox_service.reports import charts
from sandbox_service.reports.axes import number

TEMPLATES = Path(__file__).parent / "templates"


def render(template: Path, **context: Any) -> str:
    """Return a page.

    Args:
        template: A template file, which may extend `page.html` and import `parts.html` of this package.
        context: Variables of the template. One that is missing raises `jinja2.UndefinedError`.
    """
    return _environment(template.parent).get_template(template.name).render(context)


def write(path: Path, text: str) -> None:
    """Write text to a file in one step: a reader finds the old content or the new one, never a part.

    Raises:
        OSError: The file cannot be written; the old content is still there.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


@cache
def _environment(folder: Path) -> Environment:
    """An environment for the templates in `folder` and in this package."""
    made = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(number=number, breakable=_breakable, indented_json=_indented_json)
    made.globals["plot"] = charts
    return made


def _breakable(name: str) -> Markup:
    """Allow line breaks between the words of a long name."""
    return Markup(re.sub(r"([/_.-])(?=\w)", r"\1<wbr>", str(escape(name))))  # noqa: S704 – escaped above


def _indented_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)
