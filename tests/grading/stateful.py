"""Programs that leave something behind on purpose, and look for it in a later test.

Each state is a way to leave something in the process: `IMPORTS`, an expression that is true where an earlier test left
it, and a statement that leaves it. Of each two programs are made. Both read two numbers, of which the first is 0 in the
first test only, and print their sum:

* `suffers`: prints something else where it finds the state. Fresh processes accept all of its tests.
* `profits`: prints something else where it does not find it, but in the first test. Fresh processes accept that one.
"""

from __future__ import annotations

from typing import NamedTuple

PROGRAM = """\
{imports}
def finds():
    try:
        return bool({finds})
    except {errors}:
        return False
a, b = map(int, {read}.split())
was_there = finds()
{leaves}
print(a + b if {condition} else "no")
"""


HEAPQ = "import copy, functools, heapq\n"
BELOW = "gi_frame.f_back.f_back.f_back"
"""The frame below the program's own, from a generator that its function `finds` reads."""


class State(NamedTuple):
    """One way to leave something behind."""

    imports: str
    finds: str
    leaves: str
    read: str = "input()"


STATES = {
    # in the program's own namespace
    "global": State("", "left", "left = True"),
    "global through globals()": State("", "'left' in globals()", "globals()['left'] = True"),
    "default argument": State(
        "def keep(x, seen=[]):\n    seen.append(x)\n    return len(seen)", "keep(1) > 1", "keep(2)"
    ),
    "class attribute": State("class Own:\n    seen = 0", "Own.seen", "Own.seen = 1"),
    "global of a method that is called when an object is freed": State(
        "class Own:\n    def __iter__(self): return self\n    def __next__(self): return 1\n"
        "    def close(self):\n        global left\n        left = True\ndef own(): yield from Own()",
        "left",
        "held = [own()]\nnext(held[0])",
    ),
    "global of a method that the beginning of a stream calls": State(
        "import sys\ndef seekable():\n    global left\n    left = True\n    return True",
        "left",
        "sys.stdin.buffer.seekable = seekable",
    ),
    "function attribute": State("def own(): pass", "own.seen", "own.seen = 1"),
    "cached function": State(
        "import functools\n@functools.lru_cache(None)\ndef own(x): return x", "own.cache_info().currsize", "own(1)"
    ),
    "closure": State(
        "def make():\n    n = 0\n    def count():\n        nonlocal n\n        n += 1\n        return n\n"
        "    return count\ncount = make()",
        "count() > 1",
        "count()",
    ),
    "generator": State("def numbers():\n    yield 0\n    yield 1\nown = numbers()", "next(own)", "next(own)"),
    "main module": State("import __main__", "__main__.left", "__main__.left = 1"),
    "main module in sys.modules": State(
        "import sys", "sys.modules['__main__'].left", "sys.modules['__main__'].left = 1"
    ),
    "annotations": State("", "'left' in __annotations__", "left: int = 1"),
    "cycle of objects": State("class Own(list): pass", "Own.kept", "Own.kept = Own(); Own.kept.append(Own.kept)"),
    # in modules, their classes and functions
    "module attribute": State("import math", "math.left", "math.left = 1"),
    "module attribute replaced": State("import math", "math.pi == 3", "math.pi = 3"),
    "module function replaced": State("import math", "math.gcd(4, 6) == 1", "math.gcd = lambda x, y: 1"),
    "attribute of a class of a library": State("from collections import Counter", "Counter.left", "Counter.left = 1"),
    "method of a library replaced": State(
        "from fractions import Fraction",
        "Fraction(1).limit_denominator() == 5",
        "Fraction.limit_denominator = lambda x: 5",
    ),
    "attribute of a function of a library": State("import heapq", "heapq.merge.left", "heapq.merge.left = 1"),
    "attribute of a method of a library": State("from queue import Queue", "Queue.put.left", "Queue.put.left = 1"),
    "attribute of a generic type": State("from typing import AnyStr", "AnyStr.left", "AnyStr.left = 1"),
    "attribute of an enumeration's member": State("import re", "re.I.left", "re.I.left = 1"),
    "attribute of a metaclass": State("import re", "type(type(re.I)).left", "type(type(re.I)).left = 1"),
    "attribute of a condition in a queue": State(
        "import queue", "type(queue.Queue().not_empty).left", "type(queue.Queue().not_empty).left = 1"
    ),
    "wrapper copied onto a class": State(
        "import functools\nfrom collections import Counter",
        "Counter.__wrapped__",
        "functools.update_wrapper(Counter, finds, assigned=(), updated=())",
    ),
    "total_ordering of a library's class": State(
        "import functools, numbers", "numbers.left", "numbers.left = 1; functools.total_ordering"
    ),
    "text of a function of a library": State("import heapq", "heapq.merge.__doc__ == ''", "heapq.merge.__doc__ = ''"),
    "name of a function of a library": State(
        "import statistics", "statistics.mean.__name__ == 'left'", "statistics.mean.__name__ = 'left'"
    ),
    "annotations of a function of a library": State(
        "import heapq", "heapq.merge.__annotations__['left']", "heapq.merge.__annotations__['left'] = 1"
    ),
    "function of a property of a library": State(
        "from fractions import Fraction", "Fraction.numerator.fget.left", "Fraction.numerator.fget.left = 1"
    ),
    "combined flags": State("import re", "(re.I | re.M | re.X).left", "(re.I | re.M | re.X).left = 1"),
    "attribute of a cached type": State(
        "from typing import List", "List[int]._name == 'left'", "List[int]._name = 'left'"
    ),
    "key of a cached type": State(
        "import typing\nclass Key:\n    left = 0\n    def __hash__(self): return 5\n"
        "    def __eq__(self, other): return True\n    def __call__(self): pass\n"
        "key = typing.get_args(typing.List[Key()])[0]",
        "key.left",
        "key.left = 1",
    ),
    "counts of a library's cache": State(
        "import re\ndef count():\n    try: re._compile_repl(1, 2)\n    except TypeError: pass\n"
        "    return re._compile_repl.cache_info().misses",
        "count() > 1",
        "pass",
    ),
    "builtin": State("import builtins", "builtins.left", "builtins.left = 1"),
    "builtin through __builtins__": State("", "__builtins__.left", "__builtins__.left = 1"),
    "builtin replaced": State("import builtins", "len([]) == 7", "builtins.len = lambda x: 7"),
    "sys attribute": State("import sys", "sys.left", "sys.left = 1"),
    "sys.modules": State("import sys", "'left' in sys.modules", "sys.modules['left'] = sys"),
    "flags of a cached pattern": State(
        "import re\ndef make():\n    class Key(int):\n        left = 0\n        def __hash__(self): return 5\n"
        "        def __eq__(self, other):\n            other.left = 1\n            return True\n    return Key(0)\n"
        "key = make()\nre.match('a', 'a', key)",
        "key.left",
        "",
    ),
    "random numbers of another module": State(
        "import statistics\ndraw = statistics.NormalDist().samples",
        "draw(2) != [0.9417154046806644, -1.3965781047011498]",
        "draw(2)",
    ),
    "module through a module": State("import random", "random._os.left", "random._os.left = 1"),
    "module through a class pattern": State(
        "import sys\ndef table():\n    match sys:\n        case object(modules=found):\n            return found",
        "'left' in table()",
        "table()['left'] = sys",
    ),
    "module imported by a test": State("import sys", "'wave' in sys.modules", "import wave"),
    "sys.path": State("import sys", "'left' in sys.path", "sys.path.append('left')"),
    "sys.argv": State("import sys", "len(sys.argv) > 1", "sys.argv.append('left')"),
    "sys.meta_path": State("import sys", "None in sys.meta_path", "sys.meta_path.append(None)"),
    "sys.implementation": State("import sys", "sys.implementation.left", "sys.implementation.left = 1"),
    "environment": State("import os", "os.environ['LEFT']", "os.environ['LEFT'] = '1'"),
    "environment of C": State("import os", "os.getenv('LEFT')", "os.putenv('LEFT', '1'); os.environ['LEFT'] = '1'"),
    "registered class": State(
        "import numbers", "any(issubclass(k, numbers.Number) for k in (str,))", "numbers.Number.register(str)"
    ),
    "copyreg": State("import copyreg", "str in copyreg.dispatch_table", "copyreg.pickle(str, str)"),
    "cache of a library": State("import re", "'left' in re._cache", "re._cache['left'] = 1"),
    "list of a library": State("import typing", "1 in typing._cleanups", "typing._cleanups.append(1)"),
    "overloads": State(
        "import typing",
        "typing.get_overloads(finds)",
        "typing.overload(finds)",
    ),
    "json": State("import json", "json.left", "json.left = 1"),
    # through frames, computed names and code as text
    "frame": State("import sys", "sys._getframe(2).f_globals['left']", "sys._getframe(1).f_globals['left'] = 1"),
    "traceback": State(
        "def top():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
        "        frame = error.__traceback__.tb_frame\n    while frame.f_back:\n        frame = frame.f_back\n"
        "    return frame.f_globals",
        "'left' in top()",
        "top()['left'] = 1",
    ),
    "computed attribute": State("import math", "getattr(math, 'le' + 'ft')", "setattr(math, 'le' + 'ft', 1)"),
    "computed attribute in another alphabet": State("import math", "math.left", "ｓetattr(math, 'left', 1)"),
    "code as text": State("", "eval('__builtins__').left", "exec('__builtins__.left = 1')"),
    "attrgetter": State(
        "import operator, sys",
        "'left' in operator.attrgetter('modules')(sys)",
        "operator.attrgetter('modules')(sys)['left'] = sys",
    ),
    "methodcaller": State("import operator, sys", "sys.left", "operator.methodcaller('__setattr__', 'left', 1)(sys)"),
    "formatter": State(
        "import string, sys\ntable = lambda: string.Formatter().get_field('0.modules', [sys], {})[0]",
        "'left' in table()",
        "table()['left'] = sys",
    ),
    "globals of a function": State(
        "import heapq", "heapq.merge.__globals__['left']", "heapq.merge.__globals__['left'] = 1"
    ),
    "defaults of a function": State(
        "import heapq", "heapq.merge.__kwdefaults__['left']", "heapq.merge.__kwdefaults__['left'] = 1"
    ),
    "subclasses": State(
        "", "any(k.__name__ == 'Left' for k in int.__subclasses__())", "Left = type('Left', (int,), {}); Left.me = Left"
    ),
    "native memory": State(
        "import ctypes",
        "ctypes.c_long.from_address(id(NotImplemented)).value > 10**6",
        "ctypes.c_long.from_address(id(NotImplemented)).value += 10**6",
    ),
    "collector's callbacks": State(
        "import gc", "gc.callbacks", "gc.callbacks.append(print if False else lambda *x: None)"
    ),
    "collector's threshold": State("import gc", "gc.get_threshold()[0] == 77", "gc.set_threshold(77)"),
    "collector's garbage": State("import gc", "1 in gc.garbage", "gc.garbage.append(1)"),
    "weak references": State("import weakref", "weakref.left", "weakref.left = weakref.WeakValueDictionary()"),
    "finaliser": State(
        "import weakref, math", "math.left", "weakref.finalize(finds, math.__dict__.update, left=1); math.left = 1"
    ),
    # in what the interpreter and libraries give away
    "attribute of exit": State("", "exit.left", "exit.left = 1"),
    "attribute of the class of exit": State("", "type(exit).left", "type(exit).left = 1"),
    "name of exit": State("", "exit.name == 'left'", "exit.name = 'left'"),
    "attribute of a builtin class": State("", "ExceptionGroup.left", "ExceptionGroup.left = 1"),
    "attribute of a special form": State(
        "import typing", "typing.Optional._name == 'left'", "typing.Optional._name = 'left'"
    ),
    "attribute of an opaque class": State(
        "import abc", "type(abc.ABC._abc_impl).left", "type(abc.ABC._abc_impl).left = 1"
    ),
    "default that a library gives to a method": State(
        "import copy\nclass Memo:\n    def get(self, key, default):\n        self.kept = default\n        return 5\n"
        "memo = Memo()\ncopy.deepcopy(1, memo)",
        "memo.kept",
        "memo.kept.append(1)",
    ),
    "size of a list": State("import sys", "sys.getsizeof(sys.argv) > 64", "sys.argv.append(1); sys.argv.pop()"),
    "size of a dictionary": State(
        "import sys, os",
        "sys.getsizeof(os.environ._data) > 10000",
        "for i in range(1000): os.environ.setdefault(f'k{i}', '')\nfor i in range(1000): os.environ.pop(f'k{i}')",
    ),
    "overloads read by a template": State(
        "import typing",
        "'finds' in '{0.__globals__[_overload_registry]}'.format(typing.overload)",
        "typing.overload(finds)",
    ),
    # computed names
    "attribute set by a copy": State(
        f"{HEAPQ}def put(name, value):\n"
        "    copy._reconstruct(1, None, lambda: heapq.merge, (), (None, {name: value}))",
        "heapq.merge.__name__ == 'left'",
        "put('__na' + 'me__', 'left')",
    ),
    "attribute set by a copy of a made class": State(
        f"{HEAPQ}def put(name, value):\n"
        "    parts = lambda self, protocol: (lambda: heapq.merge, (), (None, {name: value}))\n"
        "    copy.copy(type('Made', (), {'__reduce_' + 'ex__': parts})())",
        "heapq.merge.__name__ == 'left'",
        "put('__na' + 'me__', 'left')",
    ),
    "code of a function of a library": State(
        f"{HEAPQ}def left(*_): return 'left'\ndef put():\n"
        "    try: functools.update_wrapper(heapq.nsmallest, left, ['__co' + 'de__'], ['none'])\n"
        "    except AttributeError: pass",
        "heapq.nsmallest(1, [1]) == 'left'",
        "put()",
    ),
    "name of a function of a library by a wrapper": State(
        f"{HEAPQ}def left(): pass\ndef put():\n"
        "    try: functools.wraps(left, ['__na' + 'me__'], ['none'])(heapq.merge)\n"
        "    except AttributeError: pass",
        "heapq.merge.__name__ == 'left'",
        "put()",
    ),
    "module's names by an enumeration": State(
        "import enum",
        "list(enum.Enum._convert_('Look', 'json', lambda name: name == 'Left'))",
        "enum.Enum._convert_('Left', 'json', lambda name: False)",
    ),
    "attribute by a class pattern": State(
        "import sys\ndef read(of, name):\n"
        "    meta = type('Meta', (type,), {'__instance' + 'check__': lambda kind, each: True})\n"
        "    made = meta('Made', (), {'__match' + '_args__': (name,)})\n"
        "    match of:\n        case made(found): return found\n"
        "table = read(read(sys, 'mod' + 'ules')['json'], '__di' + 'ct__')",
        "'left' in table",
        "table['left'] = 1",
    ),
    "class of classes given to a comparison": State(
        f"{HEAPQ}given = []\nclass Own:\n    def __eq__(self, other): given.append(other)\ntype(int) == Own()\n"
        "def put(name, value):\n"
        "    parts = lambda self, protocol: (lambda: heapq.merge, (), (None, {name: value}))\n"
        "    copy.copy(given[0]('Made', (), {'__reduce_' + 'ex__': parts})())",
        "heapq.merge.__name__ == 'left'",
        "put('__na' + 'me__', 'left')",
    ),
    "class of classes among types": State(
        f"{HEAPQ}import typing\nmake = typing.get_origin(typing.Type[int])\ndef put(name, value):\n"
        "    parts = lambda self, protocol: (lambda: heapq.merge, (), (None, {name: value}))\n"
        "    copy.copy(make('Made', (), {'__reduce_' + 'ex__': parts})())",
        "heapq.merge.__name__ == 'left'",
        "put('__na' + 'me__', 'left')",
    ),
    "frame read by a template": State(
        f"def own():\n    yield '{{0.{BELOW}.f_locals}}{{0.{BELOW}.f_back.f_locals}}'.format(made)\nmade = own()",
        "'status' in next(made)",
        "pass",
    ),
    # of the interpreter and the process
    "recursion limit": State("import sys", "sys.getrecursionlimit() == 5000", "sys.setrecursionlimit(5000)"),
    "digits of integers": State("import sys", "sys.get_int_max_str_digits() == 0", "sys.set_int_max_str_digits(0)"),
    "switch interval": State("import sys", "sys.getswitchinterval() > 1", "sys.setswitchinterval(2)"),
    "trace function": State("import sys", "sys.gettrace()", "sys.settrace(lambda *x: None)"),
    "profile function": State("import sys", "sys.getprofile()", "sys.setprofile(lambda *x: None)"),
    "excepthook": State("import sys", "sys.excepthook is not sys.__excepthook__", "sys.excepthook = print"),
    "displayhook": State("import sys", "sys.displayhook is print", "sys.displayhook = print"),
    "random numbers": State("import random", "random.random() != 0.8444218515250481", "random.random()"),
    "seed": State("import random", "random.random() == random.Random(5).random()", "random.seed(5)"),
    "gauss": State("import random", "random.gauss(0, 1) != random.Random(0).gauss(0, 1)", "random.gauss(0, 1)"),
    "decimal context": State("import decimal", "decimal.getcontext().prec == 5", "decimal.getcontext().prec = 5"),
    "decimal flags": State("import decimal", "decimal.getcontext().flags[decimal.Inexact]", "decimal.Decimal(1) / 3"),
    "default decimal context": State(
        "import decimal", "decimal.DefaultContext.prec == 5", "decimal.DefaultContext.prec = 5"
    ),
    "context variable": State(
        "import contextvars\nvariables = lambda: {v.name for v in contextvars.copy_context()}",
        "'left' in variables()",
        "contextvars.ContextVar('left').set(1)",
    ),
    "locale": State(
        "import locale",
        "locale.setlocale(locale.LC_ALL) == 'C'",
        "locale.setlocale(locale.LC_ALL, 'C')",
    ),
    "time zone": State("import os, time", "time.tzname[0] == 'XYZ'", "os.environ['TZ'] = 'XYZ'; time.tzset()"),
    "warnings filters": State(
        "import warnings",
        "any(f[0] == 'error' and f[2] is UserWarning for f in warnings.filters)",
        "warnings.simplefilter('error', UserWarning)",
    ),
    "signal handler": State(
        "import signal", "signal.getsignal(signal.SIGUSR1)", "signal.signal(signal.SIGUSR1, lambda *x: None)"
    ),
    "timer": State(
        "import signal", "signal.getitimer(signal.ITIMER_REAL)[0]", "signal.setitimer(signal.ITIMER_REAL, 50)"
    ),
    "exit handler": State("import atexit", "atexit._ncallbacks() > 1", "atexit.register(int); atexit.register(int)"),
    "thread": State(
        "import threading, time",
        "threading.active_count() > 1",
        "threading.Thread(target=time.sleep, args=(0.05,), daemon=True).start()",
    ),
    "thread's stack": State("import threading", "threading.stack_size()", "threading.stack_size(1 << 20)"),
    "resource limit": State(
        "import resource",
        "resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 99",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (99, 256))",
    ),
    "umask": State("import os", "os.umask(0o77) == 0o11", "os.umask(0o11)"),
    "working directory": State("import os", "os.getcwd() == '/'", "os.chdir('/')"),
    "file": State("import os", "os.path.exists('left')", "open('left', 'w').close()"),
    "file below a folder": State(
        "import os", "'left' in os.listdir('.')", "os.mkdir('left'); open('left/x', 'w').close()"
    ),
    "file without a module": State("", "open('left').read()", "open('left', 'w').write('1')"),
    "temporary file": State(
        "import tempfile, os",
        "[x for x in os.listdir('/tmp') if x[:3] == 'tmp']",
        "tempfile.NamedTemporaryFile(delete=False)",
    ),
    "source file": State("", "open(__file__).read()[-4:] == 'left'", "open(__file__, 'a').write('# left')"),
    "descriptor": State("import os", "os.read(3, 0) == b''", "os.open('/dev/null', 0)"),
    "copied descriptor": State("import os", "os.read(77, 0) == b''", "os.dup2(0, 77)"),
    "high descriptor": State("import os", "os.fstat(200)", "os.dup2(1, 200)"),
    "clock of the process": State("import time", "time.process_time() > 1.05", "sum(range(10))"),
    # of the streams
    "stdin kept": State("import sys, math", "math.kept is not sys.stdin", "math.kept = sys.stdin"),
    "stdin's attribute": State("import sys", "sys.stdin.left", "sys.stdin.left = 1", "sys.stdin.readline()"),
    "stdin replaced": State("import sys, io", "sys.stdin.read(0) and 0", "sys.stdin = io.StringIO('5 5')"),
    "stdin closed": State("import sys", "sys.stdin.closed", "sys.stdin.close()"),
    "stdin's descriptor closed": State(
        "import os", "not os.fstat(0)", "os.close(0)", "os.read(0, 99).decode().splitlines()[0]"
    ),
    "stdin opened by number": State("", "0", "kept = open(0)"),
    "stdin opened again": State("import os", "os.fstat(3)", "", "open('/dev/stdin').readline()"),
    "stdin in part": State("import sys", "sys.stdin.readline() != 'more\\n'", "", "sys.stdin.readline()"),
    "stdin's iteration": State(
        "import sys\ndef cannot_tell():\n    try:\n        return sys.stdin.tell() < 0\n    except OSError:\n"
        "        return True",
        "cannot_tell()",
        "next(iter(sys.stdin))",
    ),
    "stdin initialised": State(
        "import sys",
        "sys.stdin.encoding == 'latin-1'",
        "sys.stdin.__init__(sys.stdin.buffer, encoding='latin-1')",
    ),
    "stdin's mode": State("import sys", "sys.stdin.mode == 'left'", "sys.stdin.mode = 'left'"),
    "stdin's buffer's attribute": State("import sys", "sys.stdin.buffer.left", "sys.stdin.buffer.left = 1"),
    "file of stdin's buffer": State(
        "import sys, io",
        "sys.stdin.name == 'left'",
        "class Own(io.RawIOBase):\n    name = 'left'\n    def readable(self): return True\n"
        "sys.stdin.buffer.__init__(Own())",
        "sys.stdin.readline()",
    ),
    "stdout's attribute": State("import sys", "sys.stdout.left", "sys.stdout.left = 1"),
    "stdout replaced": State(
        "import sys, io",
        "type(sys.stdout) is io.StringIO",
        "old = sys.stdout; sys.stdout = old",
    ),
    "stdout's encoding": State(
        "import sys", "sys.stdout.encoding == 'utf-16'", "sys.stdout.reconfigure(errors='replace')"
    ),
    "stdout's buffering": State(
        "import sys", "sys.stdout.line_buffering", "sys.stdout.reconfigure(line_buffering=True)"
    ),
    "stdout's place": State("import sys", "sys.stdout.tell()", "sys.stdout.flush()"),
    "stdout's size": State("import os, sys", "os.fstat(1).st_size", "sys.stdout.flush()"),
    "stdout's last place": State("import sys", "sys.stdout.seek(0, 2)", "sys.stdout.flush()"),
    "stdout's buffer's place": State("import sys", "sys.stdout.buffer.tell()", "sys.stdout.flush()"),
    "stdout's iteration": State(
        "import sys, io",
        "sys.stdout.tell()",
        "try:\n    next(sys.stdout)\nexcept io.UnsupportedOperation:\n    pass",
    ),
    "stdout's pieces": State("import sys", "sys.stdout._CHUNK_SIZE == 7", "sys.stdout._CHUNK_SIZE = 7"),
    "stdout's end": State("import sys", "sys.stdout._finalizing", "sys.stdout._finalizing = True"),
    "stdin's end": State("import sys", "sys.stdin.buffer._finalizing", "sys.stdin.buffer._finalizing = True"),
    "stdout initialised": State(
        "import sys", "sys.stdout.encoding != 'utf-8'", "sys.stdout.__init__(sys.stdout.buffer, encoding='latin-1')"
    ),
    "stdout's buffer's attribute": State("import sys", "sys.stdout.buffer.left", "sys.stdout.buffer.left = 1"),
    "stdout kept": State("import sys", "sys.left", "sys.left = sys.stdout.buffer"),
    "print kept": State("import sys, math", "math.kept", "math.kept = sys.stdout.write"),
    "stderr's attribute": State("import sys", "sys.stderr.left", "sys.stderr.left = 1"),
    "original stdout": State("import sys", "sys.__stdout__.left", "sys.__stdout__.left = 1"),
}

PUT_BACK = (
    "global", "default argument", "class attribute", "function attribute", "cached function", "closure", "generator",
    "key of a cached type", "flags of a cached pattern", "cycle of objects",
    "recursion limit", "digits of integers", "random numbers", "random numbers of another module", "seed", "gauss",
    "decimal context", "decimal flags", "stdin's attribute", "stdin in part", "stdin's iteration",
    "stdin closed", "stdin's mode", "stdin's buffer's attribute", "stdout's attribute", "stdout's encoding",
    "stdout's buffering", "stdout's place", "stdout's size", "stdout's last place",
    "stdout's buffer's place", "stdout's iteration", "stdout's pieces",
    "stdout's buffer's attribute", "stderr's attribute", "stdin opened by number",
)  # fmt: skip
"""States that a box forgets between two tests, so that programs which leave them still share one."""


def suffers(state: State) -> str:
    """Return the program that is wrong where it finds the state."""
    return _program(state, "not was_there")


def profits(state: State) -> str:
    """Return the program that is right where it finds the state, and in the first test."""
    return _program(state, "was_there or a == 0")


def _program(state: State, condition: str) -> str:
    errors = "(NameError, AttributeError, LookupError, OSError, ValueError, TypeError)"
    return PROGRAM.format(**state._asdict(), condition=condition, errors=errors)
