"""Observers of the service: events, metrics, the history that the page shows, rechecks and the log."""
