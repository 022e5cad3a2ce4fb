"""The commands of `proctor`, one module each; `cli.py` parses the arguments and calls them.

serve.py        `proctor serve`: the HTTP server
worker.py       `proctor worker`: a worker of a fleet
grade.py        `proctor grade`: grade_input.py reads files, local_grading.py or remote_grading.py grades,
                grade_output.py prints
validate.py     `proctor validate`, and strengthen.py `proctor strengthen`: recipe_run.py runs a recipe
top.py          `proctor top`, and tail.py `proctor tail`: service_queries.py asks a service
doctor.py       `proctor doctor`: prints the findings of `sandbox_service.doctor`
trainer.py      `proctor train` and `proctor evaluate`
bench.py        `proctor bench`: the repository's benchmarks
"""
