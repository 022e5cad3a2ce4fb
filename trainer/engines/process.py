"""A vLLM server as a child of ours: started, watched, started again, and ended with us."""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

from trainer.config import Config
from trainer.engines.base import Sampling
from trainer.engines.environment import for_child, has_gpu

NOTHING: Mapping[str, str] = MappingProxyType({})
TAIL_LINES = 30
END_SECONDS = 12.0  # more than the guard takes
GUARD = Path(__file__).with_name("guard.py")
# in part a prompt that has a seed cannot be read on a CPU: its generator of chance would be moved, which it cannot be
CPU_ARGUMENTS = ("--enforce-eager", "--distributed-executor-backend", "uni", "--no-enable-chunked-prefill")


class VllmProcess:
    """It ends when the thread that called `start` does: see guard."""

    def __init__(
        self,
        arguments: Sequence[str],
        log: Path,
        extension: str = "trainer.vllm_ext.Extension",
        environment: Mapping[str, str] = NOTHING,
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        here = ["--host", "127.0.0.1", "--port", str(self.port), "--worker-extension-cls", extension]
        self._command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *here, *arguments]
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def of(cls, config: Config) -> VllmProcess:
        """As the configuration says; its log is in the run's folder, and begins with its command."""
        devices = config.rollout.devices
        environment = {"CUDA_VISIBLE_DEVICES": devices} if devices else NOTHING
        return cls(arguments_of(config), config.folder / "vllm.log", environment=environment)

    @property
    def pid(self) -> int:
        """Of its guard; the process group of all of it has the same number."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process is there; not whether it is well."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, after what may be left of the last one: an orphan would keep its GPU."""
        self._kill()
        atexit.unregister(self.end)
        atexit.register(self.end)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        guard = [sys.executable, "-I", str(GUARD), str(os.getpid())]  # a file: a module loads its package first
        with self.log.open("ab") as log:
            log.write(f"$ VLLM_SERVER_DEV_MODE=1 {shlex.join(self._command)}\n".encode())
            log.flush()
            self._process = self._popen([*guard, *self._command], log)

    def end(self) -> None:
        """Ask it to end, then make it."""
        atexit.unregister(self.end)
        if self.is_running:
            assert self._process is not None
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
        self._kill()

    def tail(self) -> str:
        """The log's last lines."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:])

    def _popen(self, command: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=for_child() | dict(self._environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _kill(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


def arguments_of(config: Config) -> list[str]:
    """The command line of vLLM for a run: ours, then the configuration's own, which win."""
    rollout = config.rollout
    ours = [
        *("--model", config.model.path, "--dtype", config.model.dtype, "--seed", str(config.seed)),
        *("--max-model-len", str(Sampling.of(config).max_model_len)),
        *("--tensor-parallel-size", str(rollout.tensor_parallel)),
        *("--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"),
        "--disable-uvicorn-access-log",
    ]
    gpu = ["--gpu-memory-utilization", str(rollout.gpu_memory)]
    return [*ours, *(gpu if has_gpu() else CPU_ARGUMENTS), *rollout.server_arguments]


def free_port() -> int:
    """One that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
