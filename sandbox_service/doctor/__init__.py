"""The doctor: finds missing and unsafe parts of this machine, and names the command that corrects each.

    preflight.py     checks without which no sandbox starts (`serve` and `grade` run them too)
    machine.py       checks of speed, space and doubtful settings
    proof.py         starts a sandbox and attacks it (attacks.toml); only this shows that it isolates
    examination.py   runs all of them, in order

The doctor changes nothing on the machine.
"""
