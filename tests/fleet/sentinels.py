"""A Redis with a replica, and sentinels that promote it when the master is gone."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import redis

from tests.conftest import need_firejail
from tests.fleet.fleet import GUARD_SECONDS, Fleet, FleetRedis, ending, until
from tests.markers import needs
from tests.ports import free_port

MASTER = "books"
DOWN_MILLISECONDS = 1500


class WatchedRedis:
    """What a fleet knows as its Redis; it stays, though the master does not."""

    def __init__(self, folder: Path, sentinels: int) -> None:
        self._servers = [FleetRedis(str(_made(folder / "0")), ["--repl-diskless-sync-delay", "0"])]
        master = self._servers[0]
        replica = ["--replicaof", "127.0.0.1", str(master.port), "--repl-diskless-sync-delay", "0"]
        self._servers.append(FleetRedis(str(_made(folder / "1")), replica))
        until(lambda: self._servers[1].client().info("replication")["master_link_status"] == "up", "it is a replica")
        self._sentinels = [_sentinel(folder / f"sentinel{index}", master.port, sentinels) for index in range(sentinels)]
        ports = ",".join(f"127.0.0.1:{port}" for _, port in self._sentinels)
        self.url = f"redis+sentinel://{ports}/{MASTER}/0"
        for _, port in self._sentinels:
            until(lambda port=port: self._knows_all(port, sentinels), "the sentinels know each other")  # type: ignore[misc]

    def _knows_all(self, port: int, sentinels: int) -> bool:
        with suppress(redis.RedisError), redis.Redis(port=port) as sentinel:
            state = sentinel.sentinel_master(MASTER)
            return bool(state["num-other-sentinels"] == sentinels - 1 and state["num-slaves"] == 1)
        return False

    @property
    def master(self) -> FleetRedis:
        """The server that the first sentinel takes for the master."""
        with redis.Redis(port=self._sentinels[0][1]) as sentinel:
            _, port = sentinel.sentinel_get_master_addr_by_name(MASTER)
        return next(each for each in self._servers if each.port == int(port))

    def client(self) -> Any:
        """Of the master."""
        return self.master.client()

    def kill_master(self) -> float:
        """`kill -9`; how many seconds it took until another one was the master."""
        before = self.master
        before.kill()
        began = time.monotonic()
        until(lambda: self.master is not before and self.client().role()[0] == b"master", "a replica was promoted")
        return time.monotonic() - began

    def freeze_master(self, seconds: float) -> None:
        """Stop it; it comes back when another one is the master, and does not know it."""
        before = self.master
        before.stop()
        until(lambda: self.master is not before, "a replica was promoted")
        time.sleep(seconds)
        before.cont()

    def cont(self) -> None:
        """Let all that are frozen go on."""
        for each in self._servers:
            with suppress(ProcessLookupError):
                each.cont()

    def end(self) -> None:
        """Kill all of it."""
        self.cont()
        for process, _ in self._sentinels:
            process.kill()
            process.wait()
        for each in self._servers:
            each.kill()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _sentinel(folder: Path, master: int, sentinels: int) -> tuple[subprocess.Popen[bytes], int]:
    port = free_port()
    lines = [
        f"port {port}",
        "bind 127.0.0.1",
        f"dir {_made(folder)}",
        f"sentinel monitor {MASTER} 127.0.0.1 {master} {sentinels // 2 + 1}",
        f"sentinel down-after-milliseconds {MASTER} {DOWN_MILLISECONDS}",
        f"sentinel failover-timeout {MASTER} 5000",
        "loglevel warning",
    ]
    (folder / "sentinel.conf").write_text("\n".join(lines) + "\n")
    command = ["redis-server", str(folder / "sentinel.conf"), "--sentinel"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL), port


@needs("jail", "redis")
@contextmanager
def watched_fleet(sentinels: int = 3, apis: int = 2, workers: int = 2) -> Iterator[tuple[Fleet, WatchedRedis]]:
    """A fleet whose Redis may fail over."""
    need_firejail()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-sentinel-"))
        server = WatchedRedis(Path(folder), sentinels)
        stack.callback(server.end)
        fleet = Fleet(server, apis, workers)  # type: ignore[arg-type]
        with ending(fleet):
            fleet.start()
            yield fleet, server


__all__ = ["GUARD_SECONDS", "WatchedRedis", "watched_fleet"]
