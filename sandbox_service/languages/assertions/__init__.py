"""Assert tests in languages other than Python: test programs that belong behind the submission's source.

Most of those that data sets have are lists of calls with literal values. They are translated (programs.py), so that the
expected values stay outside of the submission's process. What is left is joined with the submission (combined.py).
"""
