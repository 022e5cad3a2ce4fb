"""Wraps programs so that they run with another hash seed and other random numbers than the judge's fixed ones.

An interpreter reads its hash seed when it starts. A program that reads stdin therefore starts again with another seed,
and a stand-in calls a function or a method in a second interpreter; both need a box in which processes may be made. A
value that cannot be sent to the second interpreter raises an error there, which proves nothing: only another *answer*
does, and only if the same wrapper with the judge's own seed (0) still gives the right one.
"""

from __future__ import annotations

from collections.abc import Set

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, StdinTest
from sandbox_service.validation import probes

MOST_BYTES = 100_000  # the most bytes of one argument of a command
PROCESSES = 4
START_SECONDS = 0.5  # CPU time of a second interpreter

USUAL_IMPORTS = """from typing import *
from collections import *
from itertools import *
from functools import *
from heapq import *
from bisect import *
import builtins, collections, functools, heapq, itertools, math, re, string, random
from math import inf
pow = builtins.pow
"""  # instead of a prelude that has a name, such as @leetcode

_PROGRAM = """import os, sys
os.environ["PYTHONHASHSEED"] = "{seed}"
os.execv(sys.executable, [sys.executable, "-c", {code!r}])
"""

_FUNCTIONS = """import builtins, os, pickle, subprocess, sys
_child = None
def _ask(name, args, kwargs):
    global _child
    if _child is None:
        environment = dict(os.environ, PYTHONHASHSEED="{seed}")
        _child = subprocess.Popen([sys.executable, "-c", {code!r}], stdin=-1, stdout=-1, env=environment)
    pickle.dump((name, args, kwargs), _child.stdin)
    _child.stdin.flush()
    is_well, value = pickle.load(_child.stdout)
    if is_well:
        return value
    raise getattr(builtins, value[0], RuntimeError)(value[1])
"""

_CHILD = """import os, pickle, sys
_asked, _answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
{imports}random.seed({seed})
_names, _objects = globals(), []
for _source in ({prelude!r}, {code!r}):
    exec(compile(_source, "<solution>", "exec"), _names)
while True:
    _name, _args, _kwargs = pickle.load(_asked)
    _owner, _, _method = _name.rpartition(".")
    try:
        if _owner.isdigit():
            _found = getattr(_objects[int(_owner)], _method)
        else:
            _found = getattr(_names[_owner](), _method) if _owner else _names[_name]
        _value = _found(*_args, **_kwargs)
        if _name in {classes!r}:
            _objects.append(_value)
            _value = str(len(_objects) - 1)
        elif hasattr(_value, "__next__"):  # a generator cannot be sent
            _value = iter([*_value])
        _said = True, _value
    except Exception as _error:
        _said = False, (type(_error).__name__, str(_error))
    pickle.dump(_said, _answers)
    _answers.flush()
"""


def with_seed(problem: Problem, code: str, seed: int) -> str | None:
    """Return a program wrapped to run with another seed.

    Args:
        problem: The problem that it solves.
        code: Source of the program.
        seed: Hash seed, and seed of random numbers.

    Returns:
        The wrapped source, or None if the program cannot run in a second interpreter.
    """
    tests = problem.tests or []
    if problem.language not in ("python", "py", "python3"):
        return None
    if all(isinstance(each, StdinTest) for each in tests):
        started = f"import random\nrandom.seed({seed})\ndel random\n{code}"
        made = _PROGRAM.format(seed=seed, code=started if "from __future__" not in code else code)
    elif any(isinstance(each, StdinTest) for each in tests):
        return None
    else:
        classes = {each.function for each in tests if isinstance(each, CallTest) and each.calls is not None}
        child = _CHILD.format(
            imports=USUAL_IMPORTS, seed=seed, prelude=_prelude(problem), code=code, classes=sorted(classes)
        )
        made = _FUNCTIONS.format(seed=seed, code=child) + _stand_ins(problem, classes)
    return made if len(made.encode("utf-8", "replace")) <= MOST_BYTES else None


def _prelude(problem: Problem) -> str:
    """Return the code before every candidate.

    For a named prelude such as @leetcode, the second interpreter has the usual imports.
    """
    preludes = {each.prelude for each in problem.tests or () if isinstance(each, AssertTest) and each.prelude}
    return "\n".join(sorted(each for each in preludes if not each.startswith("@")))


def _stand_ins(problem: Problem, classes: Set[str]) -> str:
    lines = []
    for name in probes.called(problem):
        owner, _, method = name.rpartition(".")
        if name in classes:
            lines += [f"class {name}:", "    def __init__(self, *args, **kwargs):"]
            lines += [f"        self._place = _ask({name!r}, args, kwargs)", "    def __getattr__(self, name):"]
            lines += ["        return lambda *args, **kwargs: _ask(f'{self._place}.{name}', args, kwargs)"]
        elif owner:
            lines += [f"class {owner}:", f"    def {method}(self, *args, **kwargs):"]
            lines += [f"        return _ask({name!r}, args, kwargs)"]
        else:
            lines += [f"def {name}(*args, **kwargs):", f"    return _ask({name!r}, args, kwargs)"]
    return "\n".join(lines)
