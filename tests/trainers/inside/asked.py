"""How what runs inside is asked: a line of JSON in, a line of JSON out, until nobody asks any more."""

# mypy: ignore-errors

import json
import os
import sys
import traceback


def answer_all(answer):
    """`answer` gets what was asked and returns what to say. What libraries print goes where errors go."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(_said(answer, json.loads(line))), file=out, flush=True)


def _said(answer, asked):
    try:
        return {"said": answer(asked)}
    except Exception:  # noqa: BLE001 - whatever it is, it is the test's to show
        return {"failed": traceback.format_exc()}
