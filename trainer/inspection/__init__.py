"""Views of a run from outside: the plan of its memory on each device (`--dry-run`), and the kept samples (`--show`)."""
