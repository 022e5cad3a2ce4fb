"""Uids of boxes: no two processes of a machine claim the same one."""

import subprocess
import sys

from sandbox_service.sandbox import uids

WANTED = 900_000
CLAIM = f"from sandbox_service.sandbox import uids; print(uids.claimed({WANTED}), flush=True); input()"


def claimer() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CLAIM], stdin=-1, stdout=-1, text=True)


def test_two_processes_get_different_uids_and_leave_them_when_they_end() -> None:
    with claimer() as first:
        assert first.stdout is not None
        assert first.stdout.readline().strip() == str(WANTED)
        with claimer() as second:
            assert second.stdout is not None
            assert second.stdout.readline().strip() == str(WANTED + 1)
            second.kill()
        first.kill()
    with claimer() as third:
        assert third.stdout is not None
        assert third.stdout.readline().strip() == str(WANTED)
        third.kill()


def test_a_process_keeps_its_uid() -> None:
    assert uids.claimed(WANTED + 10) == uids.claimed(WANTED + 10)
    assert uids.claimed(WANTED + 10) != uids.claimed(WANTED + 11)
