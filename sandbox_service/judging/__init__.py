"""Judgement: turns run results and output bytes into verdicts, reasons and rewards.

Every function here is pure: none runs a program, reads a file or reads a clock. The judge that pays the reward is
therefore also the judge that validates a data set, and can be tested without a sandbox. The facts of a run come from an
`Outcome`; nothing that a submission says about itself is believed.

    extraction   a model's completion    → the program in it, or the contents of its box (fences, code_block)
    verdict      an Outcome              → TLE, MLE, OLE, RTE, or success; and the verdicts of all tests → one
    checkers     output and expectation  → None, or the reason why they differ
    values       result and expectation  → the same for results of calls and for JSON (value_comparison, value_text)
    systems      the same by the rules of other systems
    mathematics  the same for mathematics where no parsing is needed; guest/mathematics.py does the rest in a sandbox
    reward       a verdict               → a number, or None for a fault of the service
"""
