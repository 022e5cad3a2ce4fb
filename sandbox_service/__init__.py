"""The service of proctor: grades submitted programs and returns verdicts and rewards.

Theory of operation. There are five kinds of process. Each trusts only the ones above it:

    service    asyncio; speaks HTTP, validates and queues. Treats a submission's code as text only.
    worker     only in a fleet, one per machine; asyncio; claims submissions from Redis and returns their grades.
      slot     one per CPU; synchronous; runs one submission at a time, derives verdicts, compares outputs.
        sandbox  a firejail with a zygote, one per slot and kind of interpreter; trusted; reads no user data.
          box    one per test: a fresh process with its own namespaces, uid and seccomp filter. UNTRUSTED. It is killed
                 before its result is judged.

On one machine, one service process owns the slots. A fleet consists of any number of services without slots, workers
with slots, and one Redis, which holds the ledger. Every change of the ledger is one Lua script, so any process may be
killed between any two steps. A service keeps the submissions that its clients wait for until they are answered, and
submits them again if Redis has lost them. RQ is used only to wake up workers.

Expected outputs stay in the service, in Redis, and in the worker and its slots. A box receives code and input as
anonymous files and returns its output in such files; the kernel reports how it ended. A failure of the service is an
exception or the verdict IE, never a reward.

The path of a submission:

    api.grading      the route `POST /v1/grade`
    api.intake       validates it and makes a job; its tests become a suite
    queues.local     orders the jobs of one machine          (fleet: fleet.queue → fleet.ledger → fleet.worker)
    slots.pool       passes the job to a free slot
    slots.process    one slot, seen from the service or worker
    slots.main       the slot's process
    grading.grader   runs the tests and computes the grade, with `judging`
    sandbox.pool     the slot's sandboxes
    sandbox.jail     one sandbox
    guest.zygote     forks a box for each test
"""
