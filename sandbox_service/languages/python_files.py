"""Joins the files of a Python submission in one program, which writes them to its folder and runs the main one.

Python's boxes take one text. A syntax error is thereby found when the program runs, and is RTE. A file with the name of
a module of the library (`queue.py`) is imported in its place, as by `python3 main.py`, also if the box has imported the
library's before.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

# those that Python imports before it looks for any in the folder of a program
_STARTING = (
    "__main__", "_collections_abc", "abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site",
    "stat", "sys", "zipimport",
)  # fmt: skip
_BEGIN = """
def _begin(main, files):
    import sys
    for name, text in files.items():
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        module, _, ending = name.rpartition(".")
        if ending == "py" and module not in STARTING and module not in sys.builtin_module_names:
            sys.modules.pop(module, None)
    names = sys.modules["__main__"].__dict__
    del names["_begin"]
    exec(compile(files[main], main, "exec", dont_inherit=True), names)
""".replace("STARTING", repr(_STARTING))


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
