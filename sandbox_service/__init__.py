"""proctor's service: programs in, verdicts and rewards out.

Theory of operation. Four kinds of process, each trusting only what stands before it:

    service    one; asyncio; speaks HTTP, validates, queues. Never touches a submission's code but as text.
      slot     one for each processor; blocking; takes one submission at a time, judges facts, compares answers.
        firejail with a zygote in it, one for each kind of interpreter and slot; trusted; reads no user's byte.
          box  one for each test; fresh process, namespaces, uid, filter; UNTRUSTED; dead before it is judged.

Expected answers live in the service and the slot. Code and input go into a box as nameless files, output comes back
in such files, and the kernel says how it ended. A fault of ours is an exception or the verdict IE, never a reward.

The path of a submission: `api.grading` → `queues.local` → `slots` → `slot` → `grader` → `jails.pool` →
`jails.firejail` → `guest.zygote` → a box; and back through `judging`.
"""
