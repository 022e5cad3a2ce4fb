"""Send the frames that only an honest candidate's half sends, with every part of them forged in turn.

Must fail: the tester's decoder trusts no byte, and an odd frame is the submission's failure.
"""
# proctor: {"test": ["assert"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 3}
import os

BODIES = [
    '[{"t":[1,"P",["__eq__"],[3]]}]',
    '[{"t":[1,"P",["a","a"],[1]]}]',
    '[{"e":[1,2,"C","__eq__",0]}]',
    '[{"e":[1,[],"C","A",0]}]',
    '[{"H":[1,"error","A",[["A",["AssertionError"]]]]}]',
    '[{"H":[1,"instance","\ud800"]}]',
    '[{"H":[-1,"coroutine","A"]}]',
]
PRINTED = '["assert True"]'


def say(head, body):
    payload = f"{head}\n{body}".encode("utf-8", "surrogatepass")
    for fd in range(3, 64):
        try:
            os.write(fd, len(payload).to_bytes(4, "little") + payload)
        except OSError:
            pass


def solve(a, b):
    for body in BODIES:
        say("ok", body)
    say("printed", PRINTED)
    say("raise", '[[["AssertionError","Exception"],[],"\ud800",-1]]')
    return 0
