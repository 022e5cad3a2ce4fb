"""The service as a trainer's reward function, a module for each trainer that takes a function and not a URL.

All stand on the client and need no more than it does; but `skyrl` and `areal` derive from a class of their trainer, and
can only be imported where that is installed. The address is `url` or PROCTOR_URL, the key
PROCTOR_API_KEY. What is right about an answer is read by `truths`; other fields of a submission (`limits`, `checker`,
`reward`, `extraction`, …) can be given as options, and a ground truth that has them too goes before.

Where there is no verdict, each does the best its trainer understands: it masks the sample, or else it tries again and
in the end raises. None ever makes it a number. docs/trainers says what becomes of it in each.
"""
