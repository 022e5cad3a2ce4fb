"""Reward functions for trainers that take a Python function and not a URL, one module per trainer.

All use the client and need nothing more, except `skyrl` and `areal`: these derive from a class of their trainer and can
only be imported where it is installed. The address is `url` or PROCTOR_URL, the key is PROCTOR_API_KEY.
`formats.ground_truth` reads the ground truth. Other fields of a submission (`limits`, `checker`, `reward`,
`extraction`, …) can be given as options; fields in the ground truth take precedence.

Without a verdict each adapter does what its trainer supports: it masks the sample, or it retries and finally raises. No
adapter turns it into a number. docs/trainers describes the effect in each trainer.
"""
