"""Files that run inside the jail, under another interpreter. Only `wire` is imported by the service; see README.md."""
