"""proctor's service: programs in, verdicts and rewards out.

Theory of operation. Kinds of process, each trusting only what stands before it:

    service    asyncio; speaks HTTP, validates, queues. Never touches a submission's code but as text.
    worker     only in a fleet, one for each machine; asyncio; claims submissions, reads none, hands in answers.
      slot     one for each processor; blocking; takes one submission at a time, judges facts, compares answers.
        firejail with a zygote in it, one for each kind of interpreter and slot; trusted; reads no user's byte.
          box  one for each test; fresh process, namespaces, uid, filter; UNTRUSTED; dead before it is judged.

On one machine there is one service, and the slots are its own. In a fleet there are any number of services without
slots, and workers with them; between them stands one Redis with the ledger, where every change is one script, so that
any process can be killed between any two steps. A service keeps what somebody waits for there until it is answered,
and submits it again if Redis has lost it. RQ only wakes workers.

Expected answers live in the service, in Redis, the worker and the slot. Code and input go into a box as nameless files,
output comes back in such files, and the kernel says how it ended. A fault of ours is an exception or the verdict IE,
never a reward.

The path of a submission: `api.grading` → `api.intake`, where its tests become a suite → `queues.local` → `crew` →
`slots` → `slot` → `grader` → `jails.pool` → `jails.firejail` → `guest.zygote` → a box; and back through `judging`. In a
fleet `queues.rq` → `ledger` → `worker` stands for `queues.local`, and `hands` calls.
"""
