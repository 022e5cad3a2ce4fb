"""What the command line does, one module for each command that is more than a call. `cli.py` parses and calls them.

grade.py        `proctor grade`: files.py reads, embedded.py or remote.py grades, verdicts.py prints
doctor.py       `proctor doctor`: prints what `sandbox_service.doctor` finds
train.py        `proctor train`, and evaluate.py `proctor evaluate`: handover.py makes them the trainer's
bench.py        `proctor bench`: the repository's benchmarks
"""
