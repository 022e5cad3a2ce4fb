"""Joins the files of a Python submission in one program, which writes them to its folder and runs the main one.

Python's boxes take one text. A syntax error is thereby found when the program runs, and is RTE.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

_BEGIN = """
def _begin(main, files):
    import sys
    for name, text in files.items():
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    names = sys.modules["__main__"].__dict__
    del names["_begin"]
    exec(compile(files[main], main, "exec", dont_inherit=True), names)
"""


def joined(text: str, files: Mapping[str, str]) -> str:
    """Return a program that runs a text beside files; the text itself if there are none.

    Args:
        text: the program's main file.
        files: the others by name.
    """
    if not files:
        return text
    main = next(name for name in (f"{'_' * number}main.py" for number in count()) if name not in files)
    return f"{_BEGIN}_begin({main!r}, {dict(files) | {main: text}!r})\n"
