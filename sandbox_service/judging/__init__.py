"""Judgement, and nothing else: facts and bytes go in, verdicts, reasons and rewards come out.

Every function here is pure. Nothing runs a program, reads a file or looks at a clock, so that the judge that pays
the reward is also the judge that validates a data set, and can be tested without a jail. What was seen of a run is
taken from an `Outcome`; nothing that a submission says about itself is believed.

    extraction   a model's answer        → the program in it, or what it has put in a box
    verdict      an Outcome              → TLE, MLE, OLE, RTE, or "ended well"; and all the tests' verdicts → one
    checkers     output and expectation  → None, or the reason why they differ
    systems      the same by the rules of other systems
    mathematics  the same for mathematics, as far as it goes without a jail; the rest is guest/mathematics.py's
    reward       a verdict               → a number, or None if it was our fault
"""
