"""A slim trainer: reinforcement learning of code models, with rewards from executed tests.

The loop, in reading order:

    train.py        the loop, top to bottom
    data.py, mixture.py, prompts.py
                    problems as token ids
    collect.py      groups of samples: started, graded, batched under a staleness bound
    engines/        requests to vLLM
    reward.py       grades each sample when it ends; reward_client.py is the service's client
    duel/           a tester beside the solver, rewarded by the solutions that its test cases tell apart
    advantage.py    one number an episode
    batch.py        mini-batches and packed micro-batches for each rank
    attention.py, logprob.py
                    attention row by row; log-probabilities in chunks
    loss/           one function an algorithm; objective.py adds correction, KL and weights
    model.py, policy.py
                    the model; DeepSpeed: gradient and step
    sync/           weights to vLLM, verified after each sync; vllm_ext.py runs inside vLLM

Beside the loop:

    config.py, algorithms.py, schedule.py, configs/   settings, presets of algorithms, stages
    episode.py, ranks.py, errors.py, faults.py        data types, process group, exceptions
    clock.py, metrics.py, report.py, page.py          measurements and their display
    rollouts.py, held_out.py                          kept samples and their display, evaluation during the run
    checkpoint.py                                     checkpoints, and the groups in them
    plan.py, demo.py, tiny.py                         `--dry-run`, `make train`, a tiny model
    evaluation/                                       `proctor evaluate`; the loop does not import it

Rank 0 is the leader: only it talks to vLLM and to the reward service, from an event loop in a separate thread. The
other ranks execute its orders. Only `policy` imports DeepSpeed, only `engines` and `vllm_ext` vLLM; the mathematics
(`advantage`, `loss`, `logprob`) imports only torch.

Three guarantees: token ids and their log-probabilities are those that vLLM sampled; vLLM's weights are compared with
the trainer's after each sync; and a sample without a verdict neither counts in its group's statistics nor trains.
"""
