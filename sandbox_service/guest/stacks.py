"""Gives threads the address space that `threading.stack_size` requests, and defines the recursion limit for functions.

A stack is reserved in full and rarely used in full: two of 512 MiB exceed the usual memory limit. A box's hard limit on
address space has room for them, its soft limit does not, so that a program that merely uses too much memory hits the
soft one. Requesting a stack size raises the soft limit to the hard one. Resident memory stays limited.
"""

import _thread
import threading

# LeetCode's problems have up to 100,000 elements, and a cached function takes two levels for each
CALL_RECURSION = 250_000

_set_stack_size = _thread.stack_size


def prepare() -> None:
    """Replace the function that sets the stack size; called once, in the zygote."""
    _thread.stack_size = threading.stack_size = stack_size


def stack_size(size: int = 0, /) -> int:
    """Set the stack size of new threads; see `threading.stack_size`.

    Args:
        size: size in bytes, 0 for the default.

    Returns:
        The previous size.
    """
    before = _set_stack_size(size)
    if size:
        _raise_soft_limit()
    return before


def _raise_soft_limit() -> None:
    import resource  # few programs need it

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
