"""Whatever runs the model: vLLM servers, or vLLM in this process. Nobody else knows vLLM but `trainer.vllm_ext`."""

from trainer.engines.start import start_engines

__all__ = ["start_engines"]
