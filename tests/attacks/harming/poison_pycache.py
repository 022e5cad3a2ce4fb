"""Write byte code into the standard library's `__pycache__`, and modules into every folder on the path.

The next program would import them. Must fail: not writable, and the paths that are go with this run.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import importlib
import importlib.util
import os
import site
import sys

NAME = "left_by_another_run"
try:
    importlib.import_module(NAME)
    print("ESCAPED imported a module of another run")
except ImportError:
    pass
places = [path or "." for path in sys.path] + [site.getusersitepackages(), os.path.dirname(os.__file__)]
for place in dict.fromkeys(places):
    for path in (os.path.join(place, NAME + ".py"), os.path.join(place, "__pycache__", NAME + ".pyc")):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write("poison = True\n")
            if os.path.realpath(path).startswith(("/usr/", "/lib")):
                print("ESCAPED wrote", path)
        except OSError:
            pass
for module in ("json", "heapq", "random"):
    cached = importlib.util.cache_from_source(importlib.util.find_spec(module).origin)
    try:
        os.close(os.open(cached, os.O_WRONLY))
        print("ESCAPED may overwrite", cached)
    except OSError:
        pass
print("held")
