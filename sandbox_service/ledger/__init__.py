"""The truth of the fleet, kept in one Redis: which submissions wait, who holds which, and which are answered."""
