"""A slim trainer: reinforcement learning of code models, with rewards from real executions.

    data.py, mixture.py, prompts.py  problems, in the form that the model was trained for
                       │
    engines/     a request to vLLM for each sample ───────►  reward.py   graded the moment it is finished
                       │ episodes in groups
                 collect.py    as many as the weights allow, and of these what is worth training on
                       │ a batch, told to all ranks
                 advantage.py  one number for each episode
                 batch.py      packed micro-batches, as many for each rank, about as long
                 logprob.py    what the policy thinks of the tokens: in chunks
                 loss/         what to do about it: one function for each algorithm
                 policy.py     DeepSpeed: the gradient and the step
                       │ weights
                 sync/         to vLLM and into it; vllm_ext.py is what runs inside; verified after each
                       │
                 train.py      the loop over all this, top to bottom

    config.py, algorithms.py, schedule.py, configs/   every knob, and how it changes within a run
    clock.py, figures.py, report.py, page.py          how it goes
    checkpoint.py                                     where to go on from
    evaluation/                                       what a model can do: `proctor evaluate`
    sizing.py                                         what a run needs

Rank 0 leads: it alone speaks to vLLM and to the reward service, in an event loop in a thread of its own. The other
ranks do what they are told. Only `policy` knows DeepSpeed, only `engines` and `vllm_ext` know vLLM, only `service`,
`grades` and `suites` the reward service; the mathematics (`advantage`, `loss`, `logprob`) knows torch and nothing else.

Three things are never guessed. Token ids and their log-probabilities are those that vLLM sampled. The weights that
vLLM has are compared with ours after each sync. And a sample without a verdict is no sample: it neither votes nor
trains.
"""
