"""Grading of one submission: the grader, a module for each kind of test, suites, admission, the encoded grade."""
