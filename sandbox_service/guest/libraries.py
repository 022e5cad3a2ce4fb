"""Libraries of the host's, for a zygote that needs them: imported whole, because no box will see the folders.

sympy imports much of itself only when it is needed. In a box that would fail, and be a fault of ours that a candidate
could bring about; so all that an answer could need is imported here, and what it takes is paid once for each zygote.
"""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# one implementation of integers on all machines: no verdict may depend on what else is installed
ENVIRONMENT = {"SYMPY_GROUND_TYPES": "python", "MPMATH_NOGMPY": "1"}
PACKAGES = """
    assumptions calculus combinatorics concrete core discrete functions integrals logic matrices multipledispatch
    ntheory physics.units polys printing series sets simplify solvers strategies tensor
"""
LEFT_OUT = (".tests", ".benchmarks", "sympy.core.compatibility", "sympy.core.trace", "sympy.printing.preview")


@contextmanager
def shown(folders: list[int]) -> Iterator[None]:
    """Import them from these folders, which are closed in the end. Their compiled form may stay beside them."""
    os.environ |= ENVIRONMENT
    ours, prefix, theirs = list(sys.path), sys.pycache_prefix, [f"/proc/self/fd/{folder}" for folder in folders]
    sys.path[:0], sys.pycache_prefix = theirs, None
    _import_all()
    sys.pycache_prefix = prefix
    yield
    sys.path[:] = ours
    for folder in folders:
        os.close(folder)


def _import_all() -> None:
    import math_verify.grader  # noqa: F401

    for name in PACKAGES.split():
        package = importlib.import_module(f"sympy.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda _: None):
            if not any(part in found.name for part in LEFT_OUT):
                importlib.import_module(found.name)
