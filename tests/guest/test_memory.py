"""`_box.pack` compacts the zygote's memory, so that a box copies few pages of it."""

import subprocess
import sys

import pytest

from sandbox_service.languages.python import GUEST

PAGES = """
import sys
sys.path.insert(0, {folder!r})
import _box
gappy = [bytes({size}) for _ in range(3000)]
del gappy[::40]
{pack}
print(len({{id(block) >> 12 for block in [bytes({size}) for _ in range(10)]}}))
"""


@pytest.mark.parametrize("size", [100, 200, 400, 1000])
def test_after_packing_new_blocks_share_pages(size: int) -> None:
    packed, gappy = pages_of_ten_blocks(size, "_box.pack()"), pages_of_ten_blocks(size, "")
    assert packed <= 2 + 10 * (size + 64) // 4096 < gappy


def pages_of_ten_blocks(size: int, pack: str) -> int:
    """Return the number of pages that ten new blocks lie on, in a process whose memory has gaps."""
    program = PAGES.format(folder=str(GUEST), size=size, pack=pack)
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    return int(done.stdout)
