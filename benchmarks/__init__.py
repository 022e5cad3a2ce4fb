"""What grading costs, measured against other ways of running the same programs.

Wall time on a shared machine says little, so the figure to compare is CPU time per test, and the comparison is made
within one run: every contender is started once, and then they take turns in random order, round after round, so that
whatever else the machine is doing falls on all of them alike.

    python -m benchmarks             run.py: the table
    python -m benchmarks soak        soak.py: 100,000 tests in a row; does anything grow?
    python -m benchmarks load        load.py: a busy machine and 64 requests in flight; does any verdict change?
    python -m benchmarks delta       delta.py: the trainer's weights, two servers; is every bit right?
    python -m benchmarks mathematics mathematics.py: what an answer costs that has to be understood

How a turn is measured:

    run.py ── measure.py ── remote.py ══ pipe ══ driver.py ── contenders/…    a driver process and a cgroup for each
                                                     │
                                                  cpu.Meter                   counts the driver and all it ever started

A contender is a way to grade a submission; a workload is a list of submissions in the shape of `POST /v1/grade`. All
of a workload's programs are right, and every contender must say so, as it must reject a spoiled one: nobody wins by
not doing the work.
"""
