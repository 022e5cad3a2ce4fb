"""Duels between a solver and a tester: groups with solutions and, from another prompt, test cases for the same problem.

    collect ──▶ solutions ──▶ hidden tests ──▶ reward of a solution
            └─▶ answers of the tester (`question`): test cases
                     └──▶ every solution × every test case ──▶ reward of an answer (`referee`)
            └─▶ `opponent`: the other policy, if two runs train one role each

docs/training.md describes the rewards and the settings.
"""
