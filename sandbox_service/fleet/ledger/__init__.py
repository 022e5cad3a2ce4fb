"""The ledger: the state of a fleet, kept in one Redis: submissions that wait or that a worker holds, and answers."""
