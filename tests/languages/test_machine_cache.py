"""The compile cache of a machine: nothing wrong can be put into it or stay in it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from sandbox_service.languages.builds import Build, NotABuildError, jar_of, unpacked
from sandbox_service.languages.machine_cache import MachineCache

KEY, OTHER = "ab" * 32, "cd" * 32
MOST = 1 << 20


@pytest.fixture
def cache(tmp_path: Path) -> MachineCache:
    return MachineCache(tmp_path / "cache", MOST)


def entries(cache: MachineCache) -> list[Path]:
    return [path for path in (cache.headers.parent / "built").rglob("*") if path.is_file()]


def test_what_was_put_comes_back(cache: MachineCache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, b"program")
    assert cache.get(KEY) == b"program"
    assert cache.get(OTHER) is None


def test_only_the_owner_can_read_or_write(cache: MachineCache) -> None:
    cache.put(KEY, b"program")
    assert all(
        path.parent.stat().st_mode & 0o077 == 0 for path in [cache.headers, cache.headers.parent, *entries(cache)]
    )


@pytest.mark.parametrize("kept", [slice(-1), slice(0), slice(None, None, -1), slice(1, None)])
def test_a_damaged_entry_is_not_used_and_removed(cache: MachineCache, kept: slice) -> None:
    cache.put(KEY, b"program" * 100)
    (entry,) = entries(cache)
    entry.write_bytes(entry.read_bytes()[kept])
    assert cache.get(KEY) is None
    assert entries(cache) == []


def test_a_disk_that_is_full_leaves_no_entry(cache: MachineCache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_bytes

    def half(path: Path, content: bytes) -> int:
        real(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    cache.put(KEY, b"program")
    monkeypatch.undo()
    assert cache.get(KEY) is None
    assert entries(cache) == []
    cache.put(KEY, b"program")
    assert cache.get(KEY) == b"program"


def test_a_folder_that_cannot_be_made_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    cache = MachineCache(tmp_path / "file" / "cache", MOST)
    for _ in range(2):
        with cache.locked(KEY):
            cache.put(KEY, b"program")
    assert cache.get(KEY) is None
    assert [record.message for record in caplog.records] == ["cache_not_writable"]


def test_what_is_larger_than_the_bound_is_not_kept(cache: MachineCache) -> None:
    cache.put(KEY, bytes(MOST + 1))
    assert cache.get(KEY) is None


def test_those_used_longest_ago_are_removed_first(cache: MachineCache) -> None:
    keys = [f"{each:064x}" for each in range(12)]
    for age, key in enumerate(keys):
        cache.put(key, bytes(100_000))
        path = next(path for path in entries(cache) if path.name == key)
        os.utime(path, (1000 + age, 1000 + age))
    assert cache.get(keys[0]) is not None  # used now
    cache.prune()
    left = {path.name for path in entries(cache)}
    assert keys[0] in left
    assert keys[1] not in left
    assert sum(path.stat().st_size for path in entries(cache)) <= MOST


def _compile_once(folder: Path, log: Path) -> None:
    cache = MachineCache(folder, MOST)
    with cache.locked(KEY):
        if cache.get(KEY) is None:
            with log.open("a") as file:
                file.write("compiled\n")
            time.sleep(0.1)
            cache.put(KEY, b"program")


def _hold(folder: Path, ready: Path) -> None:
    with MachineCache(folder, MOST).locked(KEY):
        ready.write_text("")
        time.sleep(3600)


def test_eight_processes_compile_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    arguments = (tmp_path / "cache", tmp_path / "log")
    all_of_them = [context.Process(target=_compile_once, args=arguments) for _ in range(8)]
    for process in all_of_them:
        process.start()
    for process in all_of_them:
        process.join(60)
    assert (tmp_path / "log").read_text() == "compiled\n"


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process = multiprocessing.get_context("fork").Process(target=_hold, args=(tmp_path / "cache", ready))
    process.start()
    while not ready.exists():
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    with MachineCache(tmp_path / "cache", MOST).locked(KEY):
        pass


# --- what a box made


@pytest.mark.parametrize("build", [Build("no"), Build(None), Build(None, (("out", b"\0\n{"), ("b", b"")))])
def test_a_build_survives_its_encoding(build: Build) -> None:
    assert Build.decoded(build.encoded()) == build


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]\n", b'{"refusal":null,"parts":[["a",9]]}\nx', b'{"parts":1}\n', b"\xff\n"]
)
def test_what_is_no_build_is_refused(body: bytes) -> None:
    with pytest.raises(NotABuildError):
        Build.decoded(body)


def archive(*files: tuple[bytes, bytes]) -> bytes:
    return b"".join(len(content).to_bytes(8, "little") + name + b"\0" + content for name, content in files)


def test_an_archive_becomes_files() -> None:
    assert unpacked(archive((b"A.class", b"1"), (b"p/B.class", b""))) == {"A.class": b"1", "p/B.class": b""}
    assert unpacked(b"") == {}


@pytest.mark.parametrize(
    "body",
    [
        archive((b"../up", b"1")),
        archive((b"/root", b"1")),
        archive((b"a/../../b", b"1")),
        archive((b"a", b"12"))[:-1],
        (1 << 63).to_bytes(8, "little") + b"a\0",
        b"short",
        archive(*((b"%d" % each, b"") for each in range(3000))),
    ],
)
def test_a_hostile_archive_is_refused(body: bytes) -> None:
    with pytest.raises(NotABuildError):
        unpacked(body)


def test_the_same_classes_make_the_same_jar() -> None:
    classes = {"A.class": b"1", "Main.class": b"2"}
    assert jar_of(classes, "Main") == jar_of(dict(reversed(classes.items())), "Main")
