"""A solver and a tester that train each other on the same problems.

For each problem a solver writes n solutions (`rollout.samples`) and a tester writes m answers (`duel.testers`) with k
test cases each (`duel.cases`).

    question.py   the tester's prompt, the statement without its examples; and the test cases in an answer
    referee.py    grades each solution against all m·k cases, once, and rewards the answers; keeps wrong programs of
                  earlier steps, which the cases must tell from right ones as well
    opponent.py   the other policy, where two runs train a model each

Solutions are rewarded by the hidden tests, as without testers. An answer is rewarded only if all right solutions pass
its cases, by the share of wrong solutions, with those of earlier steps, that fail one of them. Without a right or
without a wrong one the answers of a problem are masked. Advantages are relative to the same role.

`collect` starts both roles, and the loop trains on both. The rest of the trainer does not distinguish them.
"""
