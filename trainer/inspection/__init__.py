"""Views of a run from outside: the plan of its memory on each device (`--dry-run`), the page of curves, and the kept
samples (`--show`).
"""
