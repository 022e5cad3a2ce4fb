"""Writes a good deal to stderr; only stdout is judged."""
# proctor: {"input": "", "output": "right\n"}
import logging
import sys
import warnings

print("debug " * 10_000, file=sys.stderr)
logging.warning("odd")
warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
print("right")
