"""Measures how strong test suites are, and adds tests that wrong programs do not pass.

`inference` reads the form of the given inputs, `inputs` and `arguments` make further ones, `answers` keeps
those on which all references agree, `mutants` and `tables` make wrong programs, `cover` chooses tests, and `job` does
this for the problems of a recipe. Programs run only in the judge of the validation, the grader that pays the reward.
"""
