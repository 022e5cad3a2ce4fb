"""The inference engines: vLLM servers over HTTP, or vLLM in this process. Only `trainer.vllm_ext` imports vLLM
besides.
"""

from trainer.engines.start import start_engines

__all__ = ["start_engines"]
