"""Views of a run from outside: the plan of what would be loaded where (`--dry-run`), the page of curves, and the kept
samples (`--show`).
"""
