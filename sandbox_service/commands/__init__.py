"""The commands of `proctor`, one module each; `cli.py` parses the arguments and calls them.

serve.py        `proctor serve`: the HTTP server
worker.py       `proctor worker`: a worker of a fleet
grade.py        `proctor grade`: grade_input.py reads files, local_grading.py or remote_grading.py grades,
                grade_output.py prints
validate.py     `proctor validate`: judges a data set
doctor.py       `proctor doctor`: prints the findings of `sandbox_service.doctor`
train.py        `proctor train`, and evaluate.py `proctor evaluate`: exec_module.py starts the trainer
bench.py        `proctor bench`: the repository's benchmarks
"""
