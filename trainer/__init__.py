"""A slim trainer: reinforcement learning of code models, with rewards from executed tests. README.md has the reading
order; it begins with train.py, the loop.

Only rank 0 talks to vLLM and to the reward service, from an event loop in a separate thread. The other ranks execute
its commands. Only `policy` imports DeepSpeed, only `engines` and `vllm_ext` vLLM; the mathematics
(`advantage`, `loss`, `logprob`) imports only torch.

Three guarantees: token ids and their log-probabilities are those that vLLM sampled; vLLM's weights are compared with
the trainer's after each sync; and a sample without a verdict neither counts in its group's statistics nor trains.
"""
