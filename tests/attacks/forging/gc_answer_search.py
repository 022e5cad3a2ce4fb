"""Ask the garbage collector for every container and look for a test case among them.

Must fail: test cases with their outputs are never objects of this process.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import gc


def find():
    mine = {id(globals())}
    for thing in gc.get_objects():
        if type(thing) is dict and id(thing) not in mine:
            for key in ("output", "expected", "answer", "expected_output"):
                if key in thing and isinstance(thing[key], (int, str)):
                    return thing[key]
        elif type(thing) is tuple and len(thing) == 2 and thing[0] in ([20, 22], (20, 22), "20 22\n"):
            return thing[1]
    return -1


def solve(a, b):
    return find()


if __name__ == "__main__":
    print(find())
