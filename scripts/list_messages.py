"""Prints all error messages and log events of the service and the trainer, as `file:line  kind  text`.

Error messages are the texts that exceptions are constructed with, unless they are held in a variable. Log events are
the first arguments of `log.info` and similar calls. Placeholders are printed as `{…}`.

    python scripts/list_messages.py [FOLDER …]
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
FOLDERS = ("sandbox_service", "trainer", "examples")


def main(folders: list[str]) -> None:
    """Print the messages of these folders, by default of all."""
    for folder in folders or FOLDERS:
        for path in sorted(Path(folder).rglob("*.py")):
            for line, kind, text in sorted(messages(ast.parse(path.read_text()))):
                print(f"{path}:{line}  {kind}  {text}")


def messages(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the exception's or logger's name, and the text of each message."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        is_log = name in LEVELS and isinstance(node.func, ast.Attribute) and "pars" not in ast.unparse(node.func.value)
        is_error = name[:1].isupper() and name.endswith(("Error", "Exception"))
        if not (is_log or is_error):
            continue
        texts = [text for each in node.args if (text := text_of(each)) is not None]
        if texts:
            yield node.lineno, f"log.{name}" if is_log else name, texts[0]


def text_of(node: ast.expr) -> str | None:
    """Return the text of a string expression with placeholders; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{…}" for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [text_of(side) or "{…}" for side in (node.left, node.right)]
        return "".join(sides)
    if isinstance(node, ast.IfExp):
        return " | ".join(filter(None, (text_of(node.body), text_of(node.orelse)))) or None
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
