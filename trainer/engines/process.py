"""A vLLM server as a subprocess: start, restart, stop, and a guard that stops it with the trainer."""

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import torch

import trainer
from trainer.config import Config
from trainer.errors import ConfigError

Notice = Callable[[str], None]  # reports a line to the user

EXTENSION = "trainer.vllm_ext.Extension"
TAIL_LINES = 30
END_SECONDS = 12.0  # longer than the guard's own limit
GUARD = Path(__file__).with_name("guard.py")
# environment variables of vLLM where there is no GPU
CPU = {
    "TORCHDYNAMO_DISABLE": "1",  # otherwise the first sample waits for a compiler
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # otherwise every vLLM binds the same cores
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # one process less; vLLM 0.32 supports "uni" on a CPU only with it
}
# of a float32 model on a GPU; otherwise Triton multiplies float32 matrices in TF32, with 10 bits of mantissa
FLOAT32 = {"TRITON_F32_DEFAULT": "ieee"}
# chunked prefill is off: on a CPU it fails for seeded requests, whose random generator cannot be moved
CPU_ARGUMENTS = ("--enforce-eager", "--distributed-executor-backend", "uni", "--no-enable-chunked-prefill")


class VllmProcess:
    """A vLLM server that ends with the thread that called `start`; see guard."""

    def __init__(self, arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        here = ["--host", "127.0.0.1", "--port", str(self.port), "--worker-extension-cls", EXTENSION]
        self._command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *here, *arguments]
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def from_config(cls, config: Config, number: int = 0) -> Self:
        """Return a server of a run by its number. Its log, `vllm.log` (`vllm1.log` …), begins with its command."""
        devices = devices_of(config, number)
        gpus = {"CUDA_VISIBLE_DEVICES": devices} if devices else None
        return cls(arguments_of(config), config.folder / f"vllm{number or ''}.log", environment=gpus)

    @property
    def pid(self) -> int:
        """The guard's process id, which is also the process group's."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the process exists; it may not be healthy."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server after killing remains of the previous one, which could still hold the GPU."""
        self._kill()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        home = str(Path(trainer.__path__[0]).parent)  # the server must find this package and expose its development API
        path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
        defaults = environment("float32" in self._command)  # the value of --dtype
        ours = defaults | os.environ | {"VLLM_SERVER_DEV_MODE": "1", "PYTHONPATH": path} | self._environment
        with self.log.open("ab") as log:
            log.write(f"$ VLLM_SERVER_DEV_MODE=1 {shlex.join(self._command)}\n".encode())
            log.flush()
            self._process = start_guarded(self._command, log, env=ours)

    def end(self) -> None:
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
        self._kill()

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(lines[-TAIL_LINES:])

    def _kill(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


def start_guarded(
    command: Sequence[str], output: IO[bytes] | None, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Return the guard of a started command, which ends with this thread, and the guard with the command.

    It writes to an output file (None: this process's terminal) and has the environment `env` (None: this process's).
    """
    guard = [sys.executable, "-I", str(GUARD), str(os.getpid())]  # a file: a module imports its package
    return subprocess.Popen(
        [*guard, *command], env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )


def has_gpu() -> bool:
    """Return whether torch can use a GPU."""
    return torch.cuda.is_available()


def environment(is_float32: bool) -> dict[str, str]:
    """Return the environment variables of vLLM, which those that are set already win over.

    Args:
        is_float32: Whether it computes in float32.
    """
    more = (FLOAT32 if is_float32 else {}) if has_gpu() else CPU
    return {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING"} | more


def devices_of(config: Config, number: int) -> str:
    """Return the CUDA_VISIBLE_DEVICES of a replica by its number, empty for the trainer's. Raise ConfigError."""
    rollout = config.rollout
    if not rollout.devices and rollout.replicas == 1 and not rollout.turns:
        return ""
    each, needed = rollout.tensor_parallel, rollout.replicas * rollout.tensor_parallel
    visible = rollout.devices or os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = visible.split(",") if visible else [*map(str, range(needed))]
    if len(names) < needed:
        raise ConfigError(
            f"CUDA_VISIBLE_DEVICES names {visible}: rollout.replicas × rollout.tensor_parallel needs {needed} GPUs"
        )
    return ",".join(names[number * each : (number + 1) * each])


def arguments_of(config: Config) -> list[str]:
    """Return vLLM's command-line arguments for a run; `rollout.server_arguments` come last and win."""
    rollout = config.rollout
    ours = [
        *("--model", config.model.path, "--dtype", config.model.dtype, "--seed", str(config.seed)),
        *("--max-model-len", str(config.longest)),
        *("--tensor-parallel-size", str(rollout.tensor_parallel)),
        *("--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"),
        "--disable-uvicorn-access-log",
    ]
    gpu = ["--gpu-memory-utilization", str(rollout.gpu_memory), *(["--enable-sleep-mode"] if rollout.turns else [])]
    return [*ours, *(gpu if has_gpu() else CPU_ARGUMENTS), *rollout.server_arguments]


def check_state(state: dict[str, Any], config: Config, where: str) -> None:
    """Check a worker's `Extension.proctor_state`; `where` names it. Raise ConfigError if a setting of vLLM is wrong."""
    dtype, longest = config.model.dtype, config.longest
    wrong = {
        "its log-probabilities are not those of the sampling distribution: start vLLM with --logprobs-mode "
        "processed_logprobs": not state["logprobs_mode"].endswith("processed_logprobs"),
        f"the model is quantised ({state['quantization']}): its weights cannot be updated": state["quantization"],
        f"its weights are {state['dtype']}: start vLLM with --dtype {dtype}": state["dtype"] != dtype,
        f"prompt and response may have {longest} tokens, but it was started with --max-model-len "
        f"{state['max_model_len']}": state["max_model_len"] < longest,
    }
    if message := next((message for message, is_so in wrong.items() if is_so), None):
        raise ConfigError(f"{where}: {message}")


def free_port() -> int:
    """Return a TCP port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
