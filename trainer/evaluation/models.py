"""The evaluated model: a folder or hub name, for which vLLM is started, or the URL of a server.

Not tested on a GPU: vLLM's arguments there follow its documentation.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox_service.client import Peer
from sandbox_service.client.transport import HttpTransport
from trainer.errors import ConfigError, UnavailableError
from trainer.evaluation.concurrency import task_group
from trainer.evaluation.endpoint import Endpoint
from trainer.evaluation.samples import SamplingOptions
from trainer.reward import trainer_errors

if TYPE_CHECKING:
    from trainer.engines.process import VllmProcess

LOG = "vllm.log"
PROMPT_ROOM = 8192  # tokens reserved for a prompt
POLL_SECONDS = 0.5
EDGE_BYTES = 1 << 20  # hashed at each end of a file


@dataclass(frozen=True)
class Model:
    """A model and how it is served."""

    name: str  # a folder, a name on the hub, or a URL
    served_name: str = ""  # at a URL that serves several
    dtype: str = "auto"
    devices: str = ""  # CUDA_VISIBLE_DEVICES of the started vLLM
    tensor_parallel: int = 1
    gpu_memory: float = 0.9
    max_model_len: int = 0  # 0: PROMPT_ROOM and the longest answer, at most the model's own
    server_arguments: tuple[str, ...] = ()
    batch_invariant: bool = False  # VLLM_BATCH_INVARIANT: see docs/evaluation.md
    key_variable: str = "OPENAI_API_KEY"
    patience_seconds: float = 1800.0

    @property
    def is_url(self) -> bool:
        """Return whether a server has the model already."""
        return self.name.startswith(("http://", "https://"))

    @property
    def fingerprint(self) -> str:
        """A hash that identifies the weights in a folder; empty for other models.

        It covers each weight file's name, size, and first and last megabyte; hashing all bytes would take minutes.
        """
        folder = Path(self.name)
        if self.is_url or not folder.is_dir():
            return ""
        known = hashlib.blake2b(digest_size=8)
        for path in sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin")):
            known.update(f"{path.name} {path.stat().st_size} ".encode() + _edges(path))
        return known.hexdigest()


@asynccontextmanager
async def served(
    model: Model, sampling: SamplingOptions, folder: Path, notice: Callable[[str], None], is_plain: bool = False
) -> AsyncIterator[Endpoint]:
    """Start or connect to the model's server. A started vLLM, whose log is in `folder`, is stopped afterwards.

    Args:
        model: The model.
        sampling: The sampling settings.
        folder: The evaluation's folder.
        notice: Receives lines about outages.
        is_plain: Whether prompts have no chat template.

    Yields:
        The endpoint.

    Raises:
        UnavailableError: The server does not answer, or vLLM ended. The same command continues the evaluation.
    """
    if model.is_url:
        async with _endpoint(model, model.name, sampling, notice, is_plain) as endpoint:
            yield endpoint
        return
    process = _process(model, sampling, folder)
    try:
        process.start()
        async with task_group() as group:
            death = group.create_task(_until_it_dies(process))
            async with _endpoint(model, process.url, sampling, notice, is_plain) as endpoint:
                yield endpoint
            death.cancel()
    finally:
        await asyncio.to_thread(process.end)


@asynccontextmanager
async def _endpoint(
    model: Model, url: str, sampling: SamplingOptions, notice: Callable[[str], None], is_plain: bool
) -> AsyncIterator[Endpoint]:
    peer = Peer(
        url=url.rstrip("/").removesuffix("/v1"),
        patience_seconds=model.patience_seconds,
        key_variable=model.key_variable,
        name="model's server",
        url_setting="MODEL",
        patience_setting="--patience",
        answer_seconds=max(model.patience_seconds, 24 * 3600.0),  # queues and answers may be long
    )
    with trainer_errors():
        service = HttpTransport(peer, notice)
    try:
        yield await Endpoint(service, sampling, model.served_name, is_plain).connect()
    finally:
        await service.close()


def _process(model: Model, sampling: SamplingOptions, folder: Path) -> VllmProcess:
    """Return vLLM's process, not started. Raises ConfigError if vLLM is not installed or there is no such model."""
    try:
        from transformers import AutoConfig

        from trainer.engines.process import CPU_ARGUMENTS, VllmProcess, has_gpu
    except ImportError as error:
        raise ConfigError(
            f"to serve {model.name} vLLM is needed here ({error}): pip install 'proctor[trainer]', "
            "or give the URL of a server that has the model"
        ) from None
    try:
        config = AutoConfig.from_pretrained(model.name)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no model in {model.name!r}: {error}") from None
    room = model.max_model_len or _room(config, sampling)
    arguments = [
        *("--model", model.name, "--dtype", model.dtype, "--seed", str(sampling.seed)),
        *("--max-model-len", str(room), "--tensor-parallel-size", str(model.tensor_parallel)),
        *("--generation-config", "vllm", "--disable-uvicorn-access-log"),
        *(("--gpu-memory-utilization", str(model.gpu_memory)) if has_gpu() else CPU_ARGUMENTS),
        *model.server_arguments,
    ]
    environment = {"VLLM_BATCH_INVARIANT": "1"} if model.batch_invariant else {}
    if model.devices:
        environment["CUDA_VISIBLE_DEVICES"] = model.devices
    return VllmProcess(arguments, folder / LOG, environment=environment)


def _room(config: object, sampling: SamplingOptions) -> int:
    wanted = sampling.max_tokens + PROMPT_ROOM
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    return min(wanted, int(getattr(text, "max_position_embeddings", 0) or wanted))


async def _until_it_dies(process: VllmProcess) -> None:
    while process.is_running:
        await asyncio.sleep(POLL_SECONDS)
    raise UnavailableError(f"vLLM ended. The end of {process.log}:\n{process.tail()}")


def _edges(path: Path) -> bytes:
    with path.open("rb") as file:
        first = file.read(EDGE_BYTES)
        file.seek(max(path.stat().st_size - EDGE_BYTES, 0))
        return first + file.read(EDGE_BYTES)
