"""Pages: templates escape what they show, and a missing variable is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from sandbox_service.reports import pages


def test_variables_are_escaped_and_names_may_break(tmp_path: Path) -> None:
    template = tmp_path / "a.html"
    template.write_text('{% extends "page.html" %}{% block body %}{{ name|breakable }} {{ name }}{% endblock %}')
    text = pages.render(template, title="<t>", subtitle="", name="<b>/c")
    assert "<h1>&lt;t&gt;</h1>" in text
    assert "&lt;b&gt;/<wbr>c &lt;b&gt;/c" in text


def test_a_missing_variable_is_an_error(tmp_path: Path) -> None:
    template = tmp_path / "b.html"
    template.write_text("{{ missing }}")
    with pytest.raises(UndefinedError):
        pages.render(template)
