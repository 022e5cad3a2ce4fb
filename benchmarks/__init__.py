"""Benchmarks of grading: its CPU cost beside other ways of running the same programs, and its behaviour under load.

Wall time on a shared machine is unreliable, so contenders are compared by CPU time per test, within one run: each is
started once, and then they take turns in random order, round after round, so that other load affects all alike.

    python -m benchmarks             run.py: the table
    python -m benchmarks soak        soak.py: 100,000 tests in a row; does any resource count grow?
    python -m benchmarks load        load.py: a busy machine and 64 requests in flight; does any verdict change?
    python -m benchmarks delta       delta.py: the trainer's weights, two servers; is every bit right?
    python -m benchmarks mathematics mathematics.py: CPU time to compare mathematical answers
    python -m benchmarks languages   languages.py: programs and compilers in boxes, and without
    python -m benchmarks shared_runs shared_runs.py: stdin tests in shared boxes and apart; is any verdict another?
    python -m benchmarks endless     endless.py: a training batch in which a few programs never end
    python -m benchmarks burst       burst.py: a million tests at once, CPU time and memory of each part
    python -m benchmarks performance performance.py: where the CPU time of a submission goes, from request to answer

How a turn is measured:

    run.py ── measure.py ── remote.py ══ pipe ══ driver.py ── contenders/…    a driver process and a cgroup for each
                                                     │
                                                  cpu.Meter                   counts the driver and all its descendants

A contender is a way to grade a submission; a workload is a list of submissions in the form of `POST /v1/grade`. All
programs of a workload are right. Each contender must accept them, and must reject a spoiled copy, so that skipping work
cannot win.
"""
