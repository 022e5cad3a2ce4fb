"""Puts objects with hashes, orders and equality of their own into sets, dictionaries and heaps."""
# proctor: {"input": "", "output": "1 True ['x', 'yy', 'zzz']\n"}
import functools


@functools.total_ordering
class Word:
    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return len(self.text) == len(other.text)

    def __lt__(self, other):
        return len(self.text) < len(other.text)

    def __hash__(self):
        return len(self.text)


print(len({Word("ab"), Word("cd")}), Word("x") <= Word("y"), [word.text for word in sorted(map(Word, ["zzz", "x", "yy"]))])
