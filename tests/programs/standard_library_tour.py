"""Imports some forty modules of the standard library and uses a little of each."""
# proctor: {"input": "", "output": "abc-123 {\"a\": 1} 1,x 26 2.5 5/6 6 RED 11 900150983cd24fb0d6963f7d28e17f72 b%20c 1 QUJD 0x10 b v 2024-02-29\n"}
import abc, array, base64, binascii, bisect, calendar, cmath, collections, colorsys, contextlib, contextvars, copy, copyreg, csv, datetime
import difflib, enum, fractions, functools, hashlib, heapq, inspect, io, itertools, json, linecache, math, numbers, operator, pprint
import queue, re, reprlib, sched, secrets, shlex, statistics, string, struct, textwrap, timeit, types, typing, unicodedata, unittest
import urllib.parse, uuid, weakref, xml.etree.ElementTree as ElementTree, zlib, zoneinfo


class Colour(enum.Enum):
    RED = enum.auto()


row = io.StringIO()
csv.writer(row, lineterminator="").writerow([1, "x"])
print(
    "-".join(re.findall(r"[a-z]+|\d+", "abc 123")),
    json.dumps({"a": 1}),
    row.getvalue(),
    len(string.ascii_lowercase),
    statistics.median([1, 2, 3, 4]),
    fractions.Fraction(1, 2) + fractions.Fraction(1, 3),
    len(list(itertools.permutations("abc"))),
    Colour.RED.name,
    len(zlib.decompress(zlib.compress(b"hello world"))),
    hashlib.md5(b"abc").hexdigest(),
    urllib.parse.quote("b c"),
    ElementTree.fromstring("<a><b x='1'/></a>").find("b").get("x"),
    base64.b64encode(b"ABC").decode(),
    hex(struct.unpack(">H", b"\0\x10")[0]),
    sorted(["b", "c"], key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))[0],
    contextvars.ContextVar("n", default="v").get(),
    datetime.date(2024, 2, 28) + datetime.timedelta(days=1),
)
