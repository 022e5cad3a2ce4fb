"""Pickles and copies instances of its own class: the class must be found in the module `__main__`."""
# proctor: {"input": "", "output": "Point(1, 2) Point(1, 2) __main__\n"}
import copy
import pickle


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


point = pickle.loads(pickle.dumps(Point(1, 2)))
print(point, copy.deepcopy(point), Point.__module__)
