"""The memory of a machine or container, and how many slots and programs it has room for."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_service.sandbox import memory
from sandbox_service.settings import Settings

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 8 GiB: a folder with `meminfo`, `own`, the cgroups of this process, and `cgroups`."""
    for name in ("MEMINFO", "OWN_CGROUPS", "CGROUPS"):
        monkeypatch.setattr(memory, name, tmp_path / {"OWN_CGROUPS": "own"}.get(name, name.lower()))
    (tmp_path / "meminfo").write_text(f"MemFree: 1 kB\nMemTotal:  {8 * GIB // 1024} kB\n")
    return tmp_path


def limit(machine: Path, path: str, text: str) -> None:
    """Write the limit of a cgroup."""
    file = machine / "cgroups" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def test_without_cgroups_it_is_the_machines(machine: Path) -> None:
    assert memory.of_machine() == 8 * GIB
    (machine / "own").write_text("0::/\n1:name=systemd:/a\n")
    limit(machine, "memory.max", "max")
    assert memory.of_machine() == 8 * GIB


def test_a_limit_of_any_cgroup_above_counts(machine: Path) -> None:
    (machine / "own").write_text("0::/system.slice/worker.service\n")
    limit(machine, "system.slice/worker.service/memory.max", "max")
    limit(machine, "system.slice/memory.max", str(2 * GIB))
    assert memory.of_machine() == 2 * GIB
    limit(machine, "system.slice/worker.service/memory.max", str(GIB))
    assert memory.of_machine() == GIB


def test_version_1_has_its_own_names_and_no_limit_is_a_large_number(machine: Path) -> None:
    (machine / "own").write_text("7:cpu,memory:/box\n0::/\n")
    limit(machine, "memory/memory.limit_in_bytes", "9223372036854771712")
    assert memory.of_machine() == 8 * GIB
    limit(machine, "memory/box/memory.limit_in_bytes", str(3 * GIB))
    assert memory.of_machine() == 3 * GIB


def test_a_cgroup_that_is_not_visible_counts_as_the_root(machine: Path) -> None:
    (machine / "own").write_text("7:memory:/docker/0123\n")
    limit(machine, "memory/memory.limit_in_bytes", str(GIB))
    assert memory.of_machine() == GIB


@pytest.mark.parametrize(("gib", "most"), [(1, 1), (2, 1), (3, 2), (16, 14)])
def test_slots_follow_the_memory(monkeypatch: pytest.MonkeyPatch, gib: int, most: int) -> None:
    monkeypatch.setattr(memory, "of_machine", lambda: gib * GIB)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    assert Settings().slot_count == most
    assert Settings(slots=5).slot_count == 5
    assert Settings(slots=2).program_memory == gib * GIB - 128 * MIB - 2 * 96 * MIB
    assert Settings(slots=2, memory_bytes=7).program_memory == 7


def test_slots_follow_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "of_machine", lambda: 1024 * GIB)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 5, 7})
    assert Settings().slot_count == 3
