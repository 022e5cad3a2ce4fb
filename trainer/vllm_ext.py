"""What runs inside vLLM: `--worker-extension-cls trainer.vllm_ext.Extension`. It takes in weights and says what it has.

vLLM makes the methods here methods of its workers and lets them be called by name (`/collective_rpc`). All take and
give what JSON can say, except `proctor_load_tensors`, which is for an engine in the trainer's own process. An update
is `begin`, any number of `load…`s or one `receive`, and `end`, which says the version and the checksums of what came
and of what the model now holds. Between begin and end the version is -1: nobody may sample.

If the trainer sends deltas, a copy of all weights is kept in the host's memory, by the names that they come by: what
changed is patched into it, and each tensor that changed is then loaded whole, because vLLM fuses some and pads others.

On a CPU, vLLM packs the weights of linear layers into a form of its own when it loads the model, and computes with
that from then on, so new weights change nothing and nobody says so. Importing this module puts vLLM off it. That is
the one thing that happens at import: the module is imported by vLLM, before it loads the model, and by nobody else.

Loading in place is right for dense models that are not quantised; `proctor_state` tells of others. The names used
here were looked up in vLLM 0.32 (`get_model`, `model_runner.device`, `vllm_config`); those of the cure are private.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
import vllm._custom_ops as custom_ops
from safetensors import safe_open
from torch import Tensor
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers import utils as linear_layers
from vllm.platforms import current_platform

from trainer.sync.base import Begin
from trainer.sync.bucket import Place, unpack
from trainer.sync.checksum import Checksum
from trainer.sync.circle import Circle, address_towards
from trainer.sync.handles import opened
from trainer.sync.kept import Kept

if current_platform.is_cpu():
    custom_ops._supports_onednn = False
    linear_layers.check_cpu_sgl_kernel = lambda *_: False


class Held:
    """What an update has brought so far, and the way that it comes."""

    def __init__(self) -> None:
        self.version = 0  # what vLLM loaded by itself
        self.received = Checksum()
        self.circle: Circle | None = None
        self.begun: Begin = "full"
        self.kept = Kept()
        self.base: int | None = None  # the version of what is kept
        self.changed: set[str] = set()  # by a delta, and not loaded yet
        self.fault = ""  # what is wrong with a delta


@functools.cache
def process_name() -> str:
    """Another one in each process: a vLLM that was started again is not the one that we knew."""
    return secrets.token_hex(8)


class Extension:
    """Mixed into vLLM's worker, which has `vllm_config`, `device` and `get_model()`. It may have no `__init__`."""

    vllm_config: Any
    device: torch.device

    def proctor_state(self) -> dict[str, Any]:
        """Who this is, which version it holds, and how it was started."""
        model = self.vllm_config.model_config
        return {
            "process": process_name(),
            "version": self._proctor.version,
            "base": self._proctor.base,
            "logprobs_mode": str(model.logprobs_mode),
            "dtype": str(model.dtype).removeprefix("torch."),
            "quantization": model.quantization,
            "max_model_len": model.max_model_len,
        }

    def proctor_join(self, backend: str, host: str, port: int, ranks: dict[str, int], seconds: float) -> dict[str, Any]:
        """Become a member of the trainer's circle; `ranks` by process name."""
        own = address_towards(host) if backend == "gloo" else ""
        rank = ranks[process_name()]
        self._proctor.circle = Circle(backend, host, port, rank, len(ranks) + 1, seconds, own).join()
        return self._proctor_answer()

    def proctor_begin(self, begun: Begin = "full") -> dict[str, Any]:
        """An update begins: what is held is of no version. "kept": and a copy is to be kept; "delta": of that one."""
        held = self._proctor
        held.version, held.base = -1, None
        held.received, held.begun, held.changed, held.fault = Checksum(), begun, set(), ""
        if begun == "full":
            held.kept = Kept()
        return self._proctor_answer()

    def proctor_receive(self) -> dict[str, Any]:
        """Load what the circle's rank 0 says."""
        assert self._proctor.circle is not None, "proctor_join comes first"
        for bucket in self._proctor.circle.hear():
            self._proctor_take(unpack(bucket.places, bucket.payload.to(self._proctor_landing())))
        return self._proctor_answer()

    def proctor_load_files(self, paths: Sequence[str]) -> dict[str, Any]:
        """Load safetensors files."""
        missing = [path for path in paths if not Path(path).exists()]
        if missing:
            return self._proctor_answer() | {
                "error": f"no file {missing[0]}: sync.folder must be one that vLLM sees as well"
            }
        for path in paths:
            with safe_open(path, "pt", device=str(self._proctor_landing())) as file:
                self._proctor_take((name, file.get_tensor(name)) for name in file.keys())  # noqa: SIM118
        return self._proctor_answer()

    def proctor_load_handle(self, places: Sequence[Place], handle: dict[str, Any]) -> dict[str, Any]:
        """Load from memory of another process on this GPU. Not run here."""
        self._proctor_take(unpack(places, opened(handle, self.device)))
        torch.cuda.synchronize(self.device)  # the trainer writes there again when we have answered
        return self._proctor_answer()

    def proctor_load_tensors(self, weights: Iterable[tuple[str, Tensor]]) -> dict[str, Any]:
        """Load tensors of this process."""
        self._proctor_take(weights)
        return self._proctor_answer()

    def proctor_end(self, version: int) -> dict[str, Any]:
        """The update is complete. Says what came and what is held: `held` is None where that cannot be compared."""
        held = self._proctor
        if held.fault:
            return self._proctor_answer() | {"error": held.fault}
        if held.begun == "delta":
            self._proctor_load((name, tensor) for name, tensor in held.kept.all() if name in held.changed)
            held.received = Checksum.of(held.kept.all())
        held.version, held.base = version, None if held.begun == "full" else version
        said = {"received": held.received.as_json(), "held": self._proctor_held(held.received)}
        return self._proctor_answer() | said

    @property
    def _proctor(self) -> Held:
        held: Held = vars(self).setdefault("_proctor_state", Held())
        return held

    def _proctor_answer(self) -> dict[str, Any]:
        return {"process": process_name(), "version": self._proctor.version}

    def _proctor_landing(self) -> torch.device:
        """Where what comes is put first: what is kept is kept in the host's memory."""
        return self.device if self._proctor.begun == "full" else torch.device("cpu")

    def _proctor_take(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """What comes: tensors, or in a delta labels and patches."""
        held = self._proctor
        if held.begun == "delta":
            for label, payload in weights:
                self._proctor_patch(label, payload)
            return
        coming = held.received.over(weights)
        self._proctor_load(held.kept.over(coming) if held.begun == "kept" else coming)

    def _proctor_patch(self, label: str, payload: Tensor) -> None:
        """Into what is kept. A fault is told at the end: who stops in the middle leaves the others waiting."""
        held = self._proctor
        try:
            held.changed.add(held.kept.patch(label, payload))
        except (ValueError, IndexError, KeyError) as trouble:
            held.fault = f"{type(trouble).__name__}: {trouble}"

    def _proctor_load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Into the model, in place, so that a captured CUDA graph computes with them."""
        with set_current_vllm_config(self.vllm_config), torch.no_grad():
            self._proctor_model().load_weights(weights)

    def _proctor_model(self) -> Any:
        return self.get_model()  # type: ignore[attr-defined]

    def _proctor_held(self, received: Checksum) -> dict[str, int] | None:
        """By data type, what all parameters add up to, if each number received has one place among them: an engine on
        one GPU, no other data type, and besides them only the rows that pad the vocabulary, which are zero.
        """
        if self.vllm_config.parallel_config.world_size > 1:
            return None
        model, held = self._proctor_model(), Checksum()
        for parameter in model.parameters():
            held.add("", parameter)
        if held.numbers.keys() != received.numbers.keys():
            return None
        extra = sum(held.numbers.values()) - sum(received.numbers.values())
        return held.plain if extra == _padding(model) else None


def _padding(model: torch.nn.Module) -> int:
    """How many numbers are there only to pad the vocabulary. Tied embeddings are counted once."""
    rows: dict[int, int] = {}
    module: Any
    for module in model.modules():
        if hasattr(module, "num_embeddings_padded") and hasattr(module, "weight"):
            rows[id(module.weight)] = (module.num_embeddings_padded - module.num_embeddings) * module.embedding_dim
    return sum(rows.values())
