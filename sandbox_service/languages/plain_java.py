"""Finds Java programs that can leave nothing behind for a later test of the same virtual machine, from their classes.

A program is plain if its classes refer to nothing outside themselves but the classes and members listed here, none of
which reaches what a new class loader, new streams and new threads do not replace (`ProctorTests.java`): files,
reflection, class loaders, the settings and the end of the virtual machine, threads of others. `Locale.setDefault` is
allowed, and put back. `System.exit` is allowed, since a box that ends is no pass.

A program that is not plain is no worse: it has a virtual machine for each test. So the lists refuse too much rather
than too little.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox_service.languages.class_files import ClassFile, NotAClassError, read

OBJECT = "java/lang/Object"

# whole packages, without those below them
PACKAGES = frozenset(
    """
    java/math java/time java/time/format java/time/temporal java/util/concurrent/atomic java/util/function
    java/util/regex java/util/stream
    """.split()
)

# classes of which all members are allowed, with the classes in them
CLASSES = frozenset(
    [f"java/lang/{name}" for name in """
    Appendable AutoCloseable Boolean Byte CharSequence Character Cloneable Comparable Deprecated Double Enum Float
    FunctionalInterface Integer Iterable Long Math Number Override Readable Record Runnable SafeVarargs Short
    StrictMath String StringBuffer StringBuilder ThreadLocal Throwable Void
    annotation/Annotation invoke/StringConcatFactory reflect/Array runtime/ObjectMethods runtime/SwitchBootstraps
    """.split()]
    + [f"java/util/{name}" for name in """
    AbstractCollection AbstractList AbstractMap AbstractQueue AbstractSequentialList AbstractSet ArrayDeque ArrayList
    Arrays Base64 BitSet Calendar Collection Collections Comparator Comparators Date Deque Dictionary
    DoubleSummaryStatistics Enumeration EnumMap EnumSet Formatter Formattable GregorianCalendar HashMap HashSet
    Hashtable IntSummaryStatistics Iterator LinkedHashMap LinkedHashSet LinkedList List ListIterator Locale
    LongSummaryStatistics Map NavigableMap NavigableSet Objects Optional OptionalDouble OptionalInt OptionalLong
    PrimitiveIterator PriorityQueue Queue Random RandomAccess Scanner Set SortedMap SortedSet Spliterator Spliterators
    SplittableRandom Stack StringJoiner StringTokenizer TreeMap TreeSet UUID Vector
    concurrent/BlockingDeque concurrent/BlockingQueue concurrent/Callable concurrent/ArrayBlockingQueue
    concurrent/ConcurrentHashMap concurrent/ConcurrentLinkedDeque concurrent/ConcurrentLinkedQueue
    concurrent/ConcurrentMap concurrent/ConcurrentSkipListMap concurrent/ConcurrentSkipListSet
    concurrent/CopyOnWriteArrayList concurrent/CountDownLatch concurrent/LinkedBlockingDeque
    concurrent/LinkedBlockingQueue concurrent/PriorityBlockingQueue concurrent/Semaphore concurrent/ThreadLocalRandom
    concurrent/TimeUnit concurrent/locks/Condition concurrent/locks/Lock concurrent/locks/ReadWriteLock
    concurrent/locks/ReentrantLock concurrent/locks/ReentrantReadWriteLock
    """.split()]
    + [f"java/io/{name}" for name in """
    BufferedInputStream BufferedOutputStream BufferedReader BufferedWriter ByteArrayInputStream ByteArrayOutputStream
    CharArrayReader CharArrayWriter Closeable DataInput DataInputStream DataOutput DataOutputStream FilterInputStream
    FilterOutputStream Flushable InputStream InputStreamReader LineNumberReader OutputStream OutputStreamWriter
    PrintStream PrintWriter PushbackInputStream PushbackReader Reader SequenceInputStream Serializable StreamTokenizer
    StringReader StringWriter Writer
    """.split()]
    + [f"java/text/{name}" for name in """
    CharacterIterator DateFormat DecimalFormat DecimalFormatSymbols FieldPosition Format MessageFormat NumberFormat
    ParsePosition SimpleDateFormat StringCharacterIterator
    """.split()]
    + ["java/nio/charset/Charset", "java/nio/charset/StandardCharsets"]
)  # fmt: skip

# classes of which these members are allowed; of the last ones, compilers name the class only
MEMBERS: Mapping[str, frozenset[str]] = {
    name: frozenset(members.split())
    for name, members in {
        OBJECT: "<init> clone equals getClass notify notifyAll toString wait",
        "java/lang/Class": "cast desiredAssertionStatus equals getComponentType getEnumConstants getName getSimpleName "
        "isArray isInstance isInterface toString",
        "java/lang/System": "arraycopy currentTimeMillis err exit gc getenv getProperty in lineSeparator nanoTime out "
        "setErr setIn setOut",
        "java/lang/Thread": "<init> currentThread interrupt interrupted isAlive isInterrupted join onSpinWait run "
        "setDaemon setName setPriority sleep start yield",
        "java/lang/invoke/LambdaMetafactory": "altMetafactory metafactory",
        "java/lang/invoke/MethodHandles": "",
        "java/lang/invoke/MethodHandles$Lookup": "",
    }.items()
}

REFUSED = frozenset(
    """
    commonPool finalize getStackTrace intern parallel parallelPrefix parallelSetAll parallelSort parallelStream
    setStackTrace
    """.split()
)
"""Names of methods, whatever class has them."""
REFUSED_OF_OBJECT = ("hashCode", "finalize")
REFUSED_PATTERNS = (
    re.compile(r"java/io/Print(Stream|Writer)\.<init>\(Ljava/lang/String;.*"),  # a file of that name
    re.compile(r"java/util/Formatter\.<init>\(Ljava/lang/String;.*"),
    re.compile(r"java/lang/Enum\.hashCode\(.*"),  # an identity's, as is that of Object
    re.compile(r"java/util/concurrent/atomic/Atomic\w+FieldUpdater\..*"),
    re.compile(r"java/util/concurrent/ConcurrentHashMap\.\w+\(J.*"),  # in threads of the common pool
    re.compile(r"java/util/stream/StreamSupport\..*Z\)L.*"),
)
_FAILURE = re.compile(r"java/(lang|io|util|text|time|util/concurrent|nio/charset)/\w*(Exception|Error)")


def is_plain(classes: Mapping[str, bytes]) -> bool:
    """Return whether the program may run several tests in one virtual machine.

    Args:
        classes: its class files by path, without our own.
    """
    try:
        found = {each.name: each for each in map(read, classes.values())}
    except NotAClassError:  # of a compiler that is not known here
        return False
    return len(found) == len(classes) and all(_is_plain(each, found) for each in found.values())


def _is_plain(one: ClassFile, program: Mapping[str, ClassFile]) -> bool:
    if any(name in REFUSED for name, _ in one.declared):
        return False
    known = all(name in program or _is_listed(name) for name in map(_element, one.classes) if name)
    return known and all(_is_allowed(*member, program) for member in one.members)


def _is_allowed(owner: str, name: str, descriptor: str, program: Mapping[str, ClassFile]) -> bool:
    """Return whether a program may use a member of a class: its own, inherited, or of a listed class."""
    if name in REFUSED:
        return False
    if owner.startswith("["):
        owner = OBJECT
    above, interfaces = _ancestors(owner, program)
    if any((name, descriptor) in program[each].declared for each in (*above, *interfaces) if each in program):
        return True
    listed = next((each for each in above if each not in program), OBJECT)
    if any(pattern.fullmatch(f"{listed}.{name}{descriptor}") for pattern in REFUSED_PATTERNS):
        return False
    if listed not in MEMBERS:
        return _is_listed(listed)
    is_of_interface = listed == OBJECT and name not in REFUSED_OF_OBJECT
    return name in MEMBERS[listed] or (is_of_interface and any(each not in program for each in interfaces))


def _ancestors(owner: str, program: Mapping[str, ClassFile]) -> tuple[list[str], list[str]]:
    """Return a class with its superclasses, and the interfaces of all these, each up to the first that is listed."""
    above, interfaces = [owner], []
    while above[-1] in program and len(above) <= len(program):
        above.append(program[above[-1]].above)
    left = [each for name in above if name in program for each in program[name].interfaces]
    while left:
        name = left.pop()
        if name not in interfaces:
            interfaces.append(name)
            left += program[name].interfaces if name in program else []
    return above, interfaces


def _is_listed(name: str) -> bool:
    outer = name.partition("$")[0]
    package = outer.rpartition("/")[0]
    return outer in CLASSES or name in MEMBERS or package in PACKAGES or _FAILURE.fullmatch(name) is not None


def _element(name: str) -> str:
    """Return the class of an array's elements, empty if these are numbers; or the class itself."""
    if not name.startswith("["):
        return name
    name = name.lstrip("[")
    return name[1:-1] if name.startswith("L") else ""
