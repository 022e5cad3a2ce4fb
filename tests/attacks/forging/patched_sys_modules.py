"""Swap modules in `sys.modules` for impostors, and the import system's own hooks, so that later imports get lies.

Must fail: nothing that decides is imported in this process after the submission ran.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import sys
import types


class Impostor(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **kwargs: True


for _name in ("json", "unittest", "math", "operator", "traceback", "marshal", "struct", "io", "difflib", "numpy", "pytest"):
    sys.modules[_name] = Impostor(_name)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        sys.modules[name] = Impostor(name)
        return sys.modules[name].__spec__


sys.meta_path[:] = [Finder]
sys.path_hooks.clear()
sys.path_importer_cache.clear()


def solve(a, b):
    return sys.modules["json"].loads("")


if __name__ == "__main__":
    sys.modules["__main__"] = Impostor("__main__")
