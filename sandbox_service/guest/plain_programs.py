"""Finds programs that can leave nothing behind for a later test of the same process, from their compiled form.

A program is plain if it imports only modules of MODULES, and uses no name by which it could reach what is kept neither
in its own namespace nor in what shared.py puts back or compares: frames, other modules, code as text, attributes by
computed names, sizes of containers, the process's own settings. Names are those of globals, attributes and imports;
local variables may have any. It is an allow list of modules and special methods, and for each module the names that it
hides: those that lead further, and all private ones, also of its classes.

A program that is not plain is no worse: it has a process for each test. So the lists refuse too much rather than too
little.
"""

import builtins
import gc
import io
import opcode
import os
import struct
import sys
import types
from collections.abc import Iterator
from typing import Any

import _box
import program

# Versions of CPython whose bytecode and standard library these lists were made for
VERSIONS = ((3, 11), (3, 12), (3, 13))

# Instructions that are looked at, by kind: shared.h has the rule for each kind
KINDS = {
    1: ("EXTENDED_ARG",),
    2: ("IMPORT_NAME",),
    3: ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"),
    4: ("STORE_ATTR", "DELETE_ATTR"),
}
SHIFTS = {"LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2} if sys.version_info >= (3, 12) else {}  # bits beside the name's index

# What a plain program may import, if the zygote has imported it: a module that a test loads would stay.
MODULES = frozenset(
    """
    __future__ abc array bisect cmath collections collections.abc copy datetime decimal fractions functools heapq io
    itertools math numbers operator os os.path queue random re statistics string sys time types typing
    """.split()
)

SPECIAL = frozenset(
    f"__{name}__"
    for name in """
    init new name main repr str format bytes hash bool len iter next reversed contains getitem setitem delitem missing
    call eq ne lt le gt ge add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor radd rsub rmul
    rtruediv rfloordiv rmod rdivmod rpow rmatmul rlshift rrshift rand ror rxor iadd isub imul itruediv ifloordiv imod
    ipow imatmul ilshift irshift iand ior ixor neg pos abs invert int float index round trunc floor ceil complex slots
    module qualname annotations future doc post_init classcell
    """.split()
)

# Everywhere: other namespaces, attributes by computed names, code as text, frames, registries, clocks of the process,
# and an attribute of streams that they keep when they are initialised
REFUSED = frozenset(
    """
    eval exec compile globals locals vars dir getattr setattr delattr breakpoint help copyright credits license input_
    modules mro register attrgetter methodcaller update_wrapper wraps Formatter get_field vformat get_type_hints
    ForwardRef overload get_overloads clear_overloads singledispatch singledispatchmethod
    DefaultContext BasicContext ExtendedContext fget fset fdel encodekey decodekey encodevalue decodevalue
    f_back f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace f_trace_lines f_trace_opcodes
    tb_frame tb_next tb_lasti tb_lineno gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin
    ag_frame ag_code ag_await func_globals func_code func_defaults func_closure
    process_time process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns clock_settime
    clock_settime_ns pthread_getcpuclockid tzset
    _finalizing
    """.split()
)

# Names of variables, which are refused as attributes that are read: they lead to other descriptors, or to what the
# functions of a library keep
UNREAD = frozenset({"raw", "detach", "__annotations__"})

# The allowed names of modules that rule the process; all their other names are refused where they are imported
ALLOWED = {
    "sys": """
        stdin stdout stderr exit setrecursionlimit getrecursionlimit maxsize maxunicode byteorder version version_info
        hexversion float_info int_info hash_info platform intern path argv implementation api_version
        set_int_max_str_digits get_int_max_str_digits
    """,
    "os": """
        read write fstat lseek linesep sep name path devnull curdir getcwd environ getenv cpu_count urandom
        SEEK_SET SEEK_CUR SEEK_END
    """,
    "os.path": "exists isfile isdir join basename dirname splitext abspath getsize",
    "types": "GeneratorType",
}
# Further names that lead from the objects of a module to those of others
LEADS = {
    "queue": "mutex not_empty not_full all_tasks_done",
    "typing": "Type get_origin",
}
# Private names that change nothing
PRIVATE = frozenset(
    """
    _ _fields _asdict _replace _make _field_defaults _name_ _value_ _missing_ _generate_next_value_ _ignore_ _order_
    _heapify_max _heappop_max _heapreplace_max _siftdown _siftup _siftdown_max _siftup_max
    """.split()
)

# Names of which a program needs one to open a file, to use computed names (computed_names.py), to have stderr, or to
# change or see the state of a stream that it writes to. Such a group has no containers, and hides nothing
OPENERS = ("open", "os", "os.path", "io")
COMPUTERS = ("format", "format_map", "type")
RESTATERS = (
    "__init__", "__new__", "reconfigure", "seek", "tell", "truncate", "close", "closed", "_CHUNK_SIZE"
)  # fmt: skip
BASE, OPENS, COMPUTES, STDERR, RESTATES = 1, 2, 4, 8, 16  # bits

IMMUTABLE, HEAP = 1 << 8, 1 << 9  # Py_TPFLAGS_IMMUTABLETYPE, Py_TPFLAGS_HEAPTYPE

outer = sys.modules["__main__"]  # the zygote's own; a program's stands in its place while it runs
_bits: dict[str, int] = {}  # of what a plain program may import, of OPENERS, COMPUTERS, and stderr
_hidden: list[frozenset[str]] = []  # names, by bit
caches: list[tuple[int, Any]] = []  # the bit of a module, and what empties one of its caches


def prepare() -> None:
    """Remember the objects that plain programs can reach; called once, in the zygote, when all modules are imported."""
    if sys.version_info[:2] not in VERSIONS:
        return
    modules = {name: sys.modules[name] for name in sorted(MODULES) if name in sys.modules}
    kept: list[list[Any]] = [[*_containers(builtins), sys.modules], [], [], [], []]
    _hidden[:] = [frozenset()] * len(kept)
    for name, module in modules.items():
        _bits[name] = 1 << len(kept)
        kept.append(_containers(module))
        _hidden.append(frozenset(_refused_names(name, module, modules)))
        caches.extend((_bits[name], clear) for clear in _clearing(module))
    reach = b"".join(struct.pack("QQ", _bits[name], _reached(name, modules)) for name in modules)
    groups = (OPENERS, OPENS), (COMPUTERS, COMPUTES), (("stderr",), STDERR), (RESTATERS, RESTATES)
    for names, bit in groups:
        for name in names:
            _bits[name] = _bits.get(name, 0) | bit
    _box.set_tables(REFUSED, SPECIAL, UNREAD, _bits, _hidden, _kinds_by_number(), reach)
    streams = sys.stdin, sys.stdout, sys.stderr
    program.set_streams(None, None, None)  # no test has those of another, and CPython must be able to free them
    _box.remember(kept)
    program.set_streams(*streams)


def _reached(name: str, modules: dict[str, types.ModuleType]) -> int:
    """Return the bits of the modules whose state a module's functions may change: statistics draws random numbers."""
    found, rest = {name}, [name]
    while rest:
        for value in list(vars(modules[rest.pop()]).values()):
            led = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if isinstance(led, str) and led in modules and led not in found:
                found.add(led)
                rest.append(led)
    return sum(_bits[each] for each in found)


def _kinds_by_number() -> bytes:
    """Return the kind of each instruction, by number, with its shift."""
    kinds = bytearray(256)
    for kind, names in KINDS.items():
        for name in names:
            number = opcode.opmap.get(name, 256)
            if number < 256:  # a version of CPython without it
                kinds[number] = kind | SHIFTS.get(name, 0) << 4
    return bytes(kinds)


def _clearing(module: types.ModuleType) -> list[Any]:
    """Return what empties a module's caches: their keys may be a program's own objects, with methods of their own."""
    found = list(getattr(module, "_cleanups", ()))  # those of typing
    if hasattr(module, "purge"):  # re, whose keys have the flags as they were given
        found.append(module.purge)
    return found + [value.cache_clear for value in vars(module).values() if _has_cache(value)]


def _has_cache(value: object) -> bool:
    return hasattr(value, "cache_clear") and not isinstance(value, type)


def _refused_names(name: str, module: types.ModuleType, modules: dict[str, types.ModuleType]) -> Iterator[str]:
    """Yield the names of a module that a plain program must not use. Special names are decided by SPECIAL."""
    allowed = ALLOWED[name].split() if name in ALLOWED else None
    yield from LEADS.get(name, "").split()
    for each, value in vars(module).items():
        is_allowed = not (_is_open(value) or _is_private(each)) if allowed is None else each in allowed
        if not is_allowed and not each.startswith("__") and modules.get(each) is not value:
            yield each
        for kind in _heap_classes(value if isinstance(value, type) else type(value)):
            yield from filter(_is_private, vars(kind))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PRIVATE


def _is_open(value: object) -> bool:
    """Return whether a value of a module leads to other modules, is changed without a change of its module, or makes
    classes.
    """
    makes = isinstance(value, type) and issubclass(value, type)
    return makes or isinstance(value, (types.ModuleType, list, dict, set, bytearray)) or _has_cache(value)


def _containers(module: types.ModuleType) -> list[Any]:
    """Return the namespaces of a module, of its classes and of their members, and lists that may be used."""
    found: dict[int, Any] = {id(vars(module)): vars(module)}
    for value in list(vars(module).values()):
        if isinstance(value, io.TextIOWrapper):  # a standard stream, which no later test has
            continue
        _add_class(found, value if isinstance(value, type) else type(value))
        _add_attributes(found, value)
    for name, value in (("path", sys.path), ("argv", sys.argv)):
        if vars(module).get(name) is value:
            found[id(value)] = value
    if vars(module).get("environ") is os.environ:
        found[id(vars(os.environ)["_data"])] = vars(os.environ)["_data"]
    return list(found.values())


def _add_class(found: dict[int, Any], kind: type) -> None:
    """Add the namespaces of a class, its bases and their classes, and of their members, unless they are fixed."""
    for each in _heap_classes(kind):
        [namespace] = gc.get_referents(each.__dict__)
        if id(namespace) not in found:
            found[id(namespace)] = namespace
            for value in list(namespace.values()):
                _add_attributes(found, value)
                if type(value) in (dict, list):  # the members of an enumeration, some of which are made when used
                    found[id(value)] = value
                for member in list(value.values()) if type(value) is dict else ():
                    _add_attributes(found, member)


def _heap_classes(kind: type) -> list[type]:
    """Return the classes that can be changed, of a class, its bases and their classes."""
    metaclass: type = type(kind)
    return [each for each in kind.__mro__ + metaclass.__mro__ if each.__flags__ & (HEAP | IMMUTABLE) == HEAP]


def _add_attributes(found: dict[int, Any], value: Any) -> None:
    """Add the dictionary of an object's attributes, if it has one, and what a function has as defaults.

    A dictionary that was not made yet is made here. A function may give a default to what it calls: `copy.deepcopy`.
    """
    if isinstance(value, (types.ModuleType, type)):
        return
    function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    for each in (value, function):
        attributes = getattr(each, "__dict__", None)
        if type(attributes) is dict:
            found[id(attributes)] = attributes
    if isinstance(function, types.FunctionType):
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            if type(default) in (dict, list):
                found[id(default)] = default


def uses_of(code: types.CodeType) -> int:
    """Return the uses of a plain program: bits of the modules that it names, OPENS to RESTATES; 0 if it is not plain.

    Names are those in `co_names`, and the attributes of class patterns (`case C(x=1)`), which are tuples of constants.

    Args:
        code: the compiled program, none of which has been run.
    """
    found = _box.uses(code)
    return found | BASE if found >= 0 else 0


def bit_of(name: str) -> int:
    """Return the bit in `uses_of` of the module with this name."""
    return _bits.get(name, 0)
