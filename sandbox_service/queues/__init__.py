"""One interface, `JobQueue`, and its implementations."""
