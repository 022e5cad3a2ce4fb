"""A slim trainer: reinforcement learning of code models on rewards from executed tests. Begin with train.py, the loop.

Only `policy` imports DeepSpeed, only `engines` and `vllm_ext` vLLM; the mathematics (`advantage`, `loss`, `logprob`)
imports only torch.

Three guarantees: token ids and their log-probabilities are those that vLLM sampled; vLLM's weights are compared with
the trainer's after each sync; and a sample without a verdict neither counts in its group's statistics nor trains.
"""
