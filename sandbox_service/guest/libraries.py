"""Imports the host's libraries completely, for the kind of zygote that needs them, since no box can see their folders.

sympy imports parts of itself on demand. In a box such an import would fail and count as a fault of the sandbox, which a
candidate could cause. So everything that an answer could need is imported here, once for each zygote.
"""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# one implementation of integers on all machines, so that verdicts do not depend on other installed packages
ENVIRONMENT = {"SYMPY_GROUND_TYPES": "python", "MPMATH_NOGMPY": "1"}
PACKAGES = """
    assumptions calculus combinatorics concrete core discrete functions integrals logic matrices multipledispatch
    ntheory physics.units polys printing series sets simplify solvers strategies tensor
"""
LEFT_OUT = (".tests", ".benchmarks", "sympy.core.compatibility", "sympy.core.trace", "sympy.printing.preview")


@contextmanager
def shown(folders: list[int]) -> Iterator[None]:
    """Import the libraries from these folders; the folders are closed at the end.

    Compiled files may be written beside the sources.

    Args:
        folders: descriptors of the folders.
    """
    os.environ |= ENVIRONMENT
    own_path, library_path = list(sys.path), [f"/proc/self/fd/{folder}" for folder in folders]
    bytecode = sys.pycache_prefix, sys.dont_write_bytecode
    sys.path[:0], sys.pycache_prefix, sys.dont_write_bytecode = library_path, None, False
    _import_all()
    sys.pycache_prefix, sys.dont_write_bytecode = bytecode
    yield
    sys.path[:] = own_path
    for folder in folders:
        os.close(folder)


def _import_all() -> None:
    import math_verify.grader  # noqa: F401

    for name in PACKAGES.split():
        package = importlib.import_module(f"sympy.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda _: None):
            if not any(part in found.name for part in LEFT_OUT):
                importlib.import_module(found.name)
