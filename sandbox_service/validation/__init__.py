"""Validates data sets: finds the problems that can be trained on, with the grader that pays the reward.

`sources` reads published rows as problems, `checks` judges them, `job` runs a recipe. The libraries of some containers
(parquet, the hub) are imported when a recipe needs them.
"""
