"""The request loop of the scripts in this folder: a line of JSON in, a line of JSON out, until stdin ends."""

# mypy: ignore-errors

import json
import os
import sys
import traceback


def answer_all(answer):
    """Answer each request with `answer`. Output of libraries goes to stderr."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(_said(answer, json.loads(line))), file=out, flush=True)


def _said(answer, asked):
    try:
        return {"said": answer(asked)}
    except Exception:  # noqa: BLE001 - whatever it is, it is the test's to show
        return {"failed": traceback.format_exc()}
