"""Commands that look at a run from outside: its plan of what would be loaded where (`--dry-run`), and its kept samples
(`--show`).
"""
