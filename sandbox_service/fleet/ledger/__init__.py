"""The ledger: the state of a fleet, kept in one Redis: which submissions wait, who holds which, which are answered."""
