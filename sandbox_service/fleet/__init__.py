"""Everything that only a fleet has: the queue over Redis, the worker, waking workers by RQ, and the ledger."""
