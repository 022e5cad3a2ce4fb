"""Ask Python's own memory of source text: `linecache`, `inspect`, loaders, `__main__`, other modules' docstrings.

Must fail: no test program and no other submission was ever source text in this process.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import inspect
import linecache
import re
import sys

SOUGHT = re.compile(r"\(20, ?22\) ?== ?(\d+)")


def find():
    texts = ["".join(lines[2]) for lines in linecache.cache.values() if len(lines) > 2]
    for frame in inspect.stack():
        try:
            texts.append(inspect.getsource(frame.frame))
        except (OSError, TypeError):
            pass
    for module in list(sys.modules.values()):
        loader = getattr(module, "__loader__", None)
        if getattr(loader, "get_source", None) and getattr(module, "__name__", "") == "__main__":
            try:
                texts.append(loader.get_source("__main__") or "")
            except (ImportError, OSError, TypeError):
                pass
        texts.extend(value for value in vars(module).values() if isinstance(value, str)) if hasattr(module, "__dict__") else None
    for text in texts:
        match = SOUGHT.search(text)
        if match:
            return int(match[1])
    return None


def solve(a, b):
    return find()
