"""Java programs that leave something behind on purpose, and look for it in a later test; and unusual ends of tests.

Each state is members of the class, an expression that is true where an earlier test left it, and statements that leave
it. Of each two programs are made, as in tests/grading/stateful.py. Both read two numbers, of which the first is 0 in
the first test only, and print their sum:

* `suffers`: prints something else where it finds the state. Fresh processes accept all of its tests.
* `profits`: prints something else where it does not find it, but in the first test.
"""

from __future__ import annotations

from typing import NamedTuple

PROGRAM = """\
import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.stream.*;

public class Main {
    %(members)s
    static boolean finds() throws Throwable { return %(finds)s; }
    static void leaves() throws Throwable { %(leaves)s; }
    public static void main(String[] args) throws Throwable {
        Scanner in = %(scanner)s;
        int a = in.nextInt(), b = in.nextInt();
        boolean found;
        try { found = finds(); } catch (Exception none) { found = false; }
        try { leaves(); } catch (Exception refused) { }
        System.out.println(%(condition)s ? "" + (a + b) : "no");
    }
}
"""


class State(NamedTuple):
    """One way to leave something behind; `is_shared`: programs with it share a box all the same."""

    members: str
    finds: str
    leaves: str
    is_shared: bool = True
    scanner: str = "new Scanner(System.in)"


STATES = {
    # in the program's own classes
    "static field": State("static int seen;", "seen > 0", "seen++"),
    "static list": State("static List<Integer> all = new ArrayList<>();", "!all.isEmpty()", "all.add(1)"),
    "static array": State("static final int[] all = new int[9];", "all[3] != 0", "all[3] = 7"),
    "nested class": State("static class Own { static long seen = 5; }", "Own.seen != 5", "Own.seen++"),
    "interface constant": State("interface Own { int[] ALL = {0}; }", "Own.ALL[0] == 1", "Own.ALL[0] = 1"),
    "enum field": State("enum Own { ONE; int seen; }", "Own.ONE.seen > 0", "Own.ONE.seen = 1"),
    "initializer": State("static int runs; static { runs++; }", "runs != 1", ""),
    "lazy holder": State(
        "static class Holder { static StringBuilder one = new StringBuilder(); }",
        "Holder.one.length() > 0",
        'Holder.one.append("x")',
    ),
    "singleton": State(
        "static class Own { static Own one; static Own get() { return one == null ? one = new Own() : one; } int n; }",
        "Own.get().n > 0",
        "Own.get().n++",
    ),
    "memo": State(
        "static Map<Integer, Integer> memo = new HashMap<>();", "memo.containsKey(1)", "memo.computeIfAbsent(1, x -> x)"
    ),
    "lambda's capture": State(
        "static int[] n = {0}; static IntSupplier next = () -> n[0]++;", "next.getAsInt() > 0", "next.getAsInt()"
    ),
    "generator": State("static Iterator<Integer> all = List.of(1, 2, 3).iterator();", "all.next() > 1", ""),
    "atomic": State("static AtomicInteger n = new AtomicInteger();", "n.get() > 0", "n.incrementAndGet()"),
    "concurrent map": State(
        "static ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();",
        'map.containsKey("x")',
        'map.merge("x", 1, Integer::sum)',
    ),
    "thread local": State(
        "static ThreadLocal<Integer> own = ThreadLocal.withInitial(() -> 0);", "own.get() > 0", "own.set(1)"
    ),
    "exception kept": State(
        "static final RuntimeException WHY = new RuntimeException();",
        "WHY.getSuppressed().length > 0",
        "WHY.addSuppressed(new Error())",
    ),
    "random numbers": State(
        "static Random own = new Random(5);",
        "own.nextInt() != new Random(5).nextInt()",
        "own.nextInt()",
    ),
    "scanner kept": State(
        "static Scanner kept; static Scanner get() { return kept == null ? kept = new Scanner(System.in) : kept; }"
        " static boolean left;",
        "left",
        "left = true",
        scanner="get()",
    ),
    # of the standard streams
    "stdin closed": State("", "System.in.read() == -2", "System.in.close()"),
    "stdin not read to its end": State("", "System.in.read() == 'x'", ""),
    "stdin replaced": State(
        "",
        "System.in instanceof ByteArrayInputStream",
        "System.setIn(new ByteArrayInputStream(new byte[0]))",
    ),
    "stdout replaced": State(
        "static class Own extends PrintStream { Own() { super(System.out, true); } }",
        'System.out.getClass().getSimpleName().equals("Own")',
        "System.setOut(new Own())",
    ),
    "stderr replaced": State(
        "",
        "System.err == System.out",
        "System.setErr(System.out)",
    ),
    "stderr closed": State("", "System.err.checkError()", "System.err.close()"),
    "output buffered": State(
        "static PrintWriter late = new PrintWriter(System.out);", "late.checkError()", 'late.print("never written")'
    ),
    # of the virtual machine, put back
    "locale": State("", 'String.format("%.1f", 0.5).equals("0,5")', "Locale.setDefault(Locale.GERMANY)"),
    "locale of a category": State(
        "",
        "Locale.getDefault(Locale.Category.FORMAT).equals(Locale.FRANCE)",
        "Locale.setDefault(Locale.Category.FORMAT, Locale.FRANCE)",
    ),
    "heap": State(
        "static byte[][] all = new byte[40][];",
        "all[0] != null",
        "for (int i = 0; i < 40; i++) all[i] = new byte[1 << 20]",
    ),
    "threads that have ended": State(
        "static volatile int n;",
        "n > 0",
        "Thread t = new Thread(() -> n++); t.start(); t.join()",
    ),
    "own thread class": State(
        "static volatile int n; static class Own extends Thread { public void run() { n++; } }",
        "n > 0",
        "Own own = new Own(); own.start(); own.join()",
    ),
    # of the virtual machine, for which a program is not plain
    "interned text": State(
        'static String made = new StringBuilder("proctored").append("text").toString();',
        "made.intern() != made",
        "",
        False,
    ),
    "system property": State("", 'System.getProperty("x") != null', 'System.setProperty("x", "y")', False),
    "system properties": State(
        "", 'System.getProperties().containsKey("x")', 'System.getProperties().put("x", 1)', False
    ),
    "property cleared": State(
        "", 'System.getProperty("user.dir") == null', 'System.clearProperty("user.dir")', False
    ),
    "time zone": State(
        "",
        'TimeZone.getDefault().getID().equals("Asia/Tokyo")',
        'TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"))',
        False,
    ),
    "shutdown hook": State(
        "static boolean left;",
        "left",
        "left = true; Runtime.getRuntime().addShutdownHook(new Thread(() -> { }))",
        False,
    ),
    "handler of exceptions": State(
        "",
        "Thread.getDefaultUncaughtExceptionHandler() != null",
        "Thread.setDefaultUncaughtExceptionHandler((t, e) -> { })",
        False,
    ),
    "thread names": State(
        "",
        '!new Thread().getName().equals("Thread-0")',
        "new Thread()",
        False,
    ),
    "thread numbers": State(
        "static long first = new Thread().getId();",
        "first > 40",
        "for (int i = 0; i < 50; i++) new Thread()",
        False,
    ),
    "daemon thread": State(
        "static boolean runs() { for (Thread t : Thread.getAllStackTraces().keySet())"
        ' if (t.getName().equals("left")) return true; return false; }',
        "runs()",
        'Thread t = new Thread(() -> { try { Thread.sleep(99999); } catch (Exception e) { } }, "left");'
        " t.setDaemon(true); t.start()",
        False,
    ),
    "plain daemon thread": State(
        "static volatile int n;",
        "n > 0",
        "Thread t = new Thread(() -> { for (;;) n++; }); t.setDaemon(true); t.start(); Thread.sleep(1)",
        False,
    ),
    "timer": State("static boolean left;", "left", "left = true; new Timer(true)", False),
    "executor": State(
        "static boolean left;",
        "left",
        "left = true; ExecutorService all = Executors.newFixedThreadPool(2); all.submit(() -> 1).get(); all.shutdown()",
        False,
    ),
    "parallel stream": State(
        "static int seen;", "seen > 0", "seen += IntStream.range(0, 99).parallel().sum()", False
    ),
    "context loader": State(
        "",
        "Thread.currentThread().getContextClassLoader() == null",
        "Thread.currentThread().setContextClassLoader(null)",
        False,
    ),
    "loader": State("", "false", "Main.class.getClassLoader().clearAssertionStatus()", False),
    "integer cache": State(
        "",
        'Integer.valueOf(7).toString().equals("8")',
        'java.lang.reflect.Field f = Integer.class.getDeclaredField("value"); f.setAccessible(true);'
        " f.setInt(Integer.valueOf(7), 8)",
        False,
    ),
    "reflection on own class": State(
        "static int n;", 'Main.class.getDeclaredField("n").getInt(null) > 0', "n++", False
    ),
    "unsafe": State(
        "",
        "false",
        'java.lang.reflect.Field f = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");'
        " f.setAccessible(true); f.get(null)",
        False,
    ),
    "file": State(
        "",
        'new File("/tmp/left").exists()',
        'new File("/tmp/left").createNewFile()',
        False,
    ),
    "file of a writer": State(
        "",
        'new Scanner(java.nio.file.Paths.get("/tmp/left")).hasNext()',
        'try (PrintWriter out = new PrintWriter("/tmp/left")) { out.println(1); }',
        False,
    ),
    "file by nio": State(
        "",
        'java.nio.file.Files.exists(java.nio.file.Path.of("left"))',
        'java.nio.file.Files.writeString(java.nio.file.Path.of("left"), "x")',
        False,
    ),
    "writer of a name alone": State(
        "",
        "false",
        'new PrintWriter("/tmp/left").close()',
        False,
    ),
    "deleted at exit": State("", "false", 'new File("/tmp/left").deleteOnExit()', False),
    "descriptor 0": State(
        "",
        "new FileInputStream(FileDescriptor.in).read() == 'x'",
        "new FileInputStream(FileDescriptor.in).close()",
        False,
    ),
    "descriptor 1": State(
        "", "false", "new FileOutputStream(FileDescriptor.out).write(new byte[0])", False
    ),
    "security property": State(
        "",
        'java.security.Security.getProperty("x") != null',
        'java.security.Security.setProperty("x", "y")',
        False,
    ),
    "logger": State(
        "",
        'java.util.logging.Logger.getLogger("").getLevel() == java.util.logging.Level.OFF',
        'java.util.logging.Logger.getLogger("").setLevel(java.util.logging.Level.OFF)',
        False,
    ),
    "finalizer": State(
        "static class Own { protected void finalize() { System.setProperty(\"x\", \"y\"); } }",
        'System.getProperty("x") != null',
        "new Own(); System.gc(); System.runFinalization()",
        False,
    ),
    "plain finalizer": State(
        "static int n; static class Own { protected void finalize() { n++; } }",
        "n > 0",
        "new Own(); System.gc()",
        False,
    ),
    "identity hash codes": State(
        "static int first = new Object().hashCode();",
        "first % 2 == new Object().hashCode() % 2 && false",
        "",
        False,
    ),
    "stack trace": State("", "new Throwable().getStackTrace().length > 99", "", False),
    "process": State("", "false", 'new ProcessBuilder("/bin/ls").start()', False),
    "runtime exec": State("", "false", 'Runtime.getRuntime().exec("ls")', False),
    "stream handler": State(
        "",
        "false",
        "java.net.URL.setURLStreamHandlerFactory(name -> null)",
        False,
    ),
    "object stream": State(
        "static class Own implements Serializable { }",
        "false",
        "new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(new Own())",
        False,
    ),
    "uptime": State(
        "",
        "java.lang.management.ManagementFactory.getRuntimeMXBean().getUptime() > 99999",
        "",
        False,
    ),
}  # fmt: skip


def suffers(state: State) -> str:
    """A program that is right if nothing is left of earlier tests."""
    return PROGRAM % {**state._asdict(), "condition": "!found"}


def profits(state: State) -> str:
    """A program that is right, after the first test, only if something is left."""
    return PROGRAM % {**state._asdict(), "condition": "found || a == 0"}


SUM = """\
import java.io.*;
import java.util.*;
public class Main {
    %s
    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in);
        int a = in.nextInt(), b = in.nextInt();
        %s
    }
}
"""
PRINT = "System.out.println(a + b);"

ENDS = {
    "exit 0 after the output": ("", PRINT + "System.exit(0);"),
    "exit 0 in one test": ("", PRINT + "if (a == 2) System.exit(0);"),
    "exit 1 in one test": ("", PRINT + "if (a == 2) System.exit(1);"),
    "halt": ("", PRINT + "Runtime.getRuntime().halt(0);"),
    "exception after the output": ("", PRINT + "if (a == 2) throw new IllegalStateException();"),
    "exception before the output": ("", "if (a == 2) throw new IllegalStateException();" + PRINT),
    "exception in another thread": (
        "",
        "Thread t = new Thread(() -> { throw new Error(); }); t.start(); t.join();" + PRINT,
    ),
    "another thread prints": (
        "",
        "new Thread(() -> { try { Thread.sleep(20); } catch (Exception e) { } System.out.println(a + b); }).start();",
    ),
    "another thread prints twice": (
        "",
        PRINT + "if (a == 2) new Thread(() -> { try { Thread.sleep(20); } catch (Exception e) { }"
        " System.out.println(5); }).start();",
    ),
    "thread with a large stack": (
        "static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }",
        "new Thread(null, () -> System.out.println(a + b + deep(500000) - 500000), \"\", 1 << 28).start();",
    ),
    "thread that fails with a large stack": (
        "",
        "new Thread(null, () -> { System.out.println(a + b); if (a == 2) throw new Error(); }, \"\", 1 << 28).start();",
    ),
    "daemon prints late": (
        "",
        PRINT + "Thread t = new Thread(() -> { try { Thread.sleep(9); } catch (Exception e) { }"
        " System.out.println(9); }); t.setDaemon(true); t.start();",
    ),
    "thread that never ends": ("", PRINT + "if (a == 2) new Thread(() -> { for (;;); }).start();"),
    "wait for ever": ("", PRINT + "if (a == 2) synchronized (in) { in.wait(); }"),
    "endless in one test": ("", "while (a == 2);" + PRINT),
    "slow in one test": (
        "",
        "long x = 0; if (a == 2) for (int i = 0; i < 200_000_000; i++) x += i * x + 1; if (x == 7) a++;" + PRINT,
    ),
    "overflow of the stack": (
        "static int deep(int n) { return deep(n + 1) + 1; }", "if (a == 2) deep(0);" + PRINT
    ),
    "overflow that is caught": (
        "static int deep(int n) { return deep(n + 1) + 1; }",
        "try { deep(0); } catch (StackOverflowError e) { }" + PRINT,
    ),
    "deep recursion": (
        "static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }", "b += deep(300000) - 300000;" + PRINT
    ),
    "out of memory in one test": (
        "", "List<long[]> all = new ArrayList<>(); while (a == 2) all.add(new long[1 << 16]);" + PRINT
    ),
    "out of memory that is caught": (
        "",
        "try { List<long[]> all = new ArrayList<>(); while (true) all.add(new long[1 << 16]); }"
        " catch (OutOfMemoryError e) { }" + PRINT,
    ),
    "much memory in each test": ("static byte[] all = new byte[60 << 20];", PRINT),
    "garbage": ("static byte[] all;", "for (int i = 0; i < 300; i++) all = new byte[1 << 20];" + PRINT),
    "flood in one test": ("", "while (a == 2) System.out.println(\"no end\");" + PRINT),
    "no output in one test": ("", "if (a != 2)" + PRINT),
    "wrong in one test": ("", "if (a == 2) b++;" + PRINT),
    "stdout closed": ("", PRINT + "System.out.close();"),
    "stdout closed before": ("", "System.out.close();" + PRINT),
    "stdin closed": ("", "in.close();" + PRINT),
    "writer that is closed": ("", "PrintWriter out = new PrintWriter(System.out); out.println(a + b); out.close();"),
    "writer that is not flushed": ("", "PrintWriter out = new PrintWriter(System.out); out.println(a + b);"),
    "bytes that are not flushed": ("", "System.out.write('0' + a); System.out.write('0' + b);"),
    "no newline": ("", "System.out.print(a + b);"),
    "reads too much": ("", PRINT + "if (a == 2) while (true) in.next();"),
    "reads to the end": ("", "while (in.hasNext()) in.next();" + PRINT),
    "asks for more": ("", "b += System.in.available() > 99 ? 1 : 0;" + PRINT),
    "assertion": ("", "assert a < 0;" + PRINT),
    "writes to stderr": ("", PRINT + "System.err.println(a);"),
    "linkage error": ("", "if (a == 2) System.loadLibrary(\"none\");" + PRINT),
    "class cast": ("", "Object o = \"x\"; if (a == 2) b += (Integer) o;" + PRINT),
    "interrupted": ("", "Thread.currentThread().interrupt();" + PRINT),
    "priority": ("", "Thread.currentThread().setPriority(1);" + PRINT),
    "monitor kept": ("", "Object o = String.class; synchronized (o) { if (a == 2) throw new Error(); }" + PRINT),
}  # fmt: skip


def ends(name: str) -> str:
    """A program that ends in this way."""
    return SUM % ENDS[name]
