"""Python's collector of cycles, told what it need not look at again and again.

What a service consists of stays until its end, and what passes through it is freed as it goes, by its count. By default
both are searched for cycles every few hundred objects, which a busy process makes with each submission. With thousands
on their way, even a search every 50,000 is a twentieth of all that the process does.
"""

from __future__ import annotations

import gc

OBJECTS = 200_000  # so many more than were freed, before it looks at the youngest: some 20 MB


def settle() -> None:
    """Everything that is here now is here to stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS)
