"""vLLM worker extension that loads weights: `--worker-extension-cls trainer.vllm_ext.Extension`.

vLLM adds the methods to its workers and exposes them by name (`/collective_rpc`). Arguments and results are JSON,
except for `proctor_load_tensors`, which is for an engine in the trainer's process. An update is `begin`, any number of
`load…` calls or one `receive`, and `end`. In between the version is -1 and the engine must not sample.

With deltas, patches are applied to a copy of all weights in host memory, and each changed tensor is then loaded whole,
because vLLM fuses some tensors and pads others.

On a CPU, vLLM repacks the weights of linear layers when it loads the model, so that later weights would have no effect.
Importing this module, which vLLM does before that, disables the packing, by private names of vLLM 0.32.
"""

import functools
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import vllm._custom_ops as custom_ops
from torch import Tensor
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers import utils as linear_layers
from vllm.platforms import current_platform

from trainer.sync.broadcast import WeightGroup, local_address_towards
from trainer.sync.delta import PATCH_ERRORS, WeightCopy
from trainer.sync.transports import UpdateKind, read_bucket
from trainer.sync.weights import Checksum, Merger, name_of_weight, unpack

if current_platform.is_cpu():
    custom_ops._supports_onednn = False
    linear_layers.check_cpu_sgl_kernel = lambda *_: False


@dataclass
class UpdateState:
    """The last update, in progress or done, and what is kept from one to the next: the process group and the copy."""

    version: int = 0  # the weights of the model's folder
    begun: UpdateKind = "full"
    group: WeightGroup | None = None
    copy: WeightCopy = field(default_factory=WeightCopy)
    base: int | None = None  # the version of the copy
    received: Checksum = field(default_factory=Checksum)
    merger: Merger = field(default_factory=Merger)
    changed: set[str] = field(default_factory=set)  # tensors changed by a delta
    fault: str = ""  # the error of a delta


@functools.cache
def process_name() -> str:
    """Return a random name of this process, by which a restarted vLLM is recognised."""
    return secrets.token_hex(8)


class Extension:
    """Mixed into vLLM's worker, which has `vllm_config`, `device` and `get_model()`. It must not define `__init__`."""

    vllm_config: Any
    device: torch.device
    get_model: Callable[[], Any]

    def proctor_state(self) -> dict[str, Any]:
        """Return the process name, the version of the weights, and vLLM's settings."""
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
        """Join the trainer's process group, whose ranks are by process name; see `WeightGroup`."""
        own = local_address_towards(host) if backend == "gloo" else ""
        rank = ranks[process_name()]
        self._proctor.group = WeightGroup(backend, host, port, rank, len(ranks) + 1, seconds, own).join()
        return self._proctor_answer()

    def proctor_begin(self, begun: UpdateKind = "full") -> dict[str, Any]:
        """Begin an update of a kind; the version becomes -1."""
        copy = WeightCopy() if begun == "full" else self._proctor.copy
        vars(self)["_proctor_state"] = UpdateState(-1, begun, self._proctor.group, copy)
        return self._proctor_answer()

    def proctor_receive(self) -> dict[str, Any]:
        assert self._proctor.group is not None, "proctor_join comes first"
        for bucket in self._proctor.group.receive():
            self._proctor_take(unpack(bucket.places, bucket.payload.to(self._proctor_landing())))
        return self._proctor_answer()

    def proctor_load_files(self, paths: Sequence[str]) -> dict[str, Any]:
        if missing := [path for path in paths if not Path(path).exists()]:
            error = f"no file {missing[0]}: sync.folder must be one that vLLM sees as well"
            return self._proctor_answer() | {"error": error}
        for path in paths:
            bucket = read_bucket(path, str(self._proctor_landing()))
            self._proctor_take(unpack(bucket.places, bucket.payload))
        return self._proctor_answer()

    def proctor_load_tensors(self, weights: Iterable[tuple[str, Tensor]]) -> dict[str, Any]:
        self._proctor_take(weights)
        return self._proctor_answer()

    def proctor_end(self, version: int) -> dict[str, Any]:
        """End the update to a version, with the checksums of the received weights and of the model's; or an error."""
        state = self._proctor
        if state.fault:
            return self._proctor_answer() | {"error": state.fault}
        if state.begun == "delta":
            changed = {name_of_weight(name) for name in state.changed}
            self._proctor_load((name, each) for name, each in state.copy.items() if name_of_weight(name) in changed)
            state.received = Checksum.of(state.copy.items())
        state.version, state.base = version, None if state.begun == "full" else version
        checksums = {"received": state.received.as_json(), "held": self._proctor_held(state.received)}
        return self._proctor_answer() | checksums

    @property
    def _proctor(self) -> UpdateState:
        state: UpdateState = vars(self).setdefault("_proctor_state", UpdateState())
        return state

    def _proctor_answer(self) -> dict[str, Any]:
        return {"process": process_name(), "version": self._proctor.version}

    def _proctor_landing(self) -> torch.device:
        """Return the device on which weights arrive: host memory if a copy is kept."""
        return self.device if self._proctor.begun == "full" else torch.device("cpu")

    def _proctor_take(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Load tensors, or apply the patches of a delta."""
        state = self._proctor
        if state.begun != "delta":
            coming = state.received.tee(weights)
            self._proctor_load(state.copy.tee(coming) if state.begun == "kept" else coming)
            return
        for label, payload in weights:
            try:
                state.changed.add(state.copy.apply_patch(label, payload))
            except PATCH_ERRORS as error:  # it is reported at the end: stopping here would block the other members
                state.fault = f"{type(error).__name__}: {error}"

    def _proctor_load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Load weights into the model in place, so that captured CUDA graphs use them."""
        with set_current_vllm_config(self.vllm_config), torch.no_grad():
            self.get_model().load_weights(self._proctor.merger(weights))

    def _proctor_held(self, received: Checksum) -> dict[str, int] | None:
        """Return the sums of all parameters by data type, None if they are not comparable.

        They are comparable if each received number has one place among the parameters: a single GPU, no other data
        type, no adapters, and no further rows except zero padding of the vocabulary.
        """
        if self.vllm_config.parallel_config.world_size > 1 or self._proctor.merger.has_merged:
            return None
        model, held = self.get_model(), Checksum()
        for parameter in model.parameters():
            held.add("", parameter)
        if held.numbers.keys() != received.numbers.keys():
            return None
        extra = sum(held.numbers.values()) - sum(received.numbers.values())
        return held.plain if extra == _padding(model) else None


def _padding(model: torch.nn.Module) -> int:
    """Return the count of numbers that pad the vocabulary. Tied embeddings count once."""
    rows: dict[int, int] = {}
    module: Any
    for module in model.modules():
        if hasattr(module, "num_embeddings_padded") and hasattr(module, "weight"):
            rows[id(module.weight)] = (module.num_embeddings_padded - module.num_embeddings) * module.embedding_dim
    return sum(rows.values())
