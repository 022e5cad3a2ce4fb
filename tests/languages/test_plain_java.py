"""Which Java programs may share a virtual machine, by their class files. One call of javac compiles all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox_service.languages import class_files, plain_java
from tests.languages.toolchains import need

IMPORTS = "import java.io.*; import java.util.*; import java.util.function.*; import java.util.stream.*;\n"

PLAIN = {
    "Reads": "static int n; void f() throws IOException { new InputStreamReader(System.in).read(); }",
    "Prints": 'void f() { System.out.printf("%d%n", 1); new PrintWriter(System.out, true).println(); System.exit(0); }',
    "Collects": "Object f() { return Stream.of(1).map(x -> x + 1).collect(Collectors.toList()); }",
    "Concatenates": 'String f(int n) { return "a" + n + new int[2].clone() + getClass().getName(); }',
    "Fails": "void f() throws FileNotFoundException, Exception { throw new IllegalStateException(new Error()); }",
    "Runs": 'void f() throws Exception { Thread t = new Thread(null, () -> { }, "", 1 << 20); t.start(); t.join(); }',
    "Own": "public int hashCode() { return 5; } int f() { return hashCode(); }",
    "Defaults": "Comparator<String> f() { Comparator<String> c = String::compareTo; return c.reversed(); }",
    "Locales": "void f() { Locale.setDefault(Locale.US); }",
    "Asserts": "void f(int n) { assert n > 0; }",
    "Switches": 'int f(String s) { switch (s) { case "a": return 1; default: return 2; } }',
    "Loops": "void f(java.util.concurrent.ConcurrentHashMap<String, Long> m) { m.forEach((k, v) -> { }); }",
    "Flushes": "void f() throws IOException { System.setOut(new PrintStream(System.out)); System.out.write(1); }",
}
REFUSED = {
    "Interns": "String f(String s) { return s.intern(); }",
    "InternsBy": "Function<String, String> f() { return String::intern; }",
    "Properties": 'void f() { System.setProperty("a", "b"); }',
    "Reflects": 'Object f() throws Exception { return getClass().getDeclaredField("x"); }',
    "Loads": 'Object f() throws Exception { return Class.forName("X"); }',
    "Loader": "Object f() { return getClass().getClassLoader(); }",
    "Hooks": "void f() { Runtime.getRuntime().addShutdownHook(null); }",
    "Opens": 'void f() throws Exception { new FileReader("x"); }',
    "Names": 'void f() throws Exception { new PrintWriter("x"); }',
    "NamesOfStream": 'void f() throws Exception { new PrintStream("x", "UTF-8"); }',
    "NamesBy": "interface Maker { Object of(String s) throws Exception; } Maker f() { return PrintWriter::new; }",
    "Files": 'Object f() { return new File("x"); }',
    "Nio": 'Object f() throws Exception { return java.nio.file.Files.size(java.nio.file.Path.of("x")); }',
    "Descriptor": "Object f() { return FileDescriptor.in; }",
    "ThreadNames": "String f() { return Thread.currentThread().getName(); }",
    "Handler": "void f() { Thread.setDefaultUncaughtExceptionHandler(null); }",
    "Identity": "int f() { return new Object().hashCode(); }",
    "IdentityOfOwn": "int f() { return hashCode(); }",
    "IdentityOfSystem": "int f() { return System.identityHashCode(this); }",
    "Finalizes": "protected void finalize() { }",
    "Parallel": "Object f() { return IntStream.range(0, 9).parallel().sum(); }",
    "ParallelBy": "Object f(List<Integer> l) { return StreamSupport.stream(l.spliterator(), true); }",
    "ParallelMap": "void f(java.util.concurrent.ConcurrentHashMap<String, String> m) { m.forEach(1, (k, v) -> { }); }",
    "Zone": "void f() { TimeZone.setDefault(null); }",
    "Traces": "Object f() { return new Throwable().getStackTrace(); }",
    "Array": "Object f() { return new File[3]; }",
    "Ours": "Object f() { return new ProctorMain(); }",
    "Executes": 'void f() throws Exception { Runtime.getRuntime().exec("x"); }',
    "Weak": "Object f() { return new java.lang.ref.WeakReference<>(this); }",
}
INHERITS = {
    "Threads extends Thread": ("int f() { return isAlive() ? 1 : 0; }", True),
    "NamedThreads extends Thread": ("String f() { return getName(); }", False),
    "Enumerated extends Thread": ("int getId(int x) { return x; } long f() { return getId(); }", False),
    "Writer2 extends PrintWriter": ('Writer2() throws IOException { super("x"); }', False),
    "Writer3 extends PrintWriter": ("Writer3() { super(System.out); } void f() { println(1); }", True),
    "Compares implements Comparator<Integer>": (
        "public int compare(Integer a, Integer b) { return a - b; } Object f() { return reversed(); }", True
    ),
    "Counts implements Comparable<Counts>": (
        "public int compareTo(Counts o) { return 0; } int f() { return hashCode(); }", False
    ),
    "Maps extends HashMap<String, Integer>": ("int f() { return getOrDefault(1, 2) + hashCode(); }", True),
}  # fmt: skip


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled programs, each a class without a package."""
    need("java")
    folder = tmp_path_factory.mktemp("classes")
    parts = [f"class {name} {{ {body} }}" for name, body in {**PLAIN, **REFUSED}.items()]
    parts += [f"class {head} {{ {body} }}" for head, (body, _) in INHERITS.items()]
    (folder / "Main.java").write_text(IMPORTS + "class ProctorMain { }\n" + "\n".join(parts))
    subprocess.run(
        ["/usr/bin/javac", "-nowarn", "-proc:none", "Main.java"], check=True, cwd=folder, capture_output=True
    )
    return folder


def is_plain(folder: Path, name: str) -> bool:
    paths = [folder / f"{name}.class", *folder.glob(f"{name}$*.class")]
    return plain_java.is_plain({path.name: path.read_bytes() for path in paths})


@pytest.mark.parametrize("name", PLAIN)
def test_usual_programs_are_plain(classes: Path, name: str) -> None:
    assert is_plain(classes, name)


@pytest.mark.parametrize("name", REFUSED)
def test_programs_that_reach_further_are_not(classes: Path, name: str) -> None:
    assert not is_plain(classes, name)


@pytest.mark.parametrize("head", INHERITS)
def test_inherited_members_are_looked_up(classes: Path, head: str) -> None:
    assert is_plain(classes, head.partition(" ")[0]) == INHERITS[head][1]


def test_a_program_needs_all_of_its_classes_to_be_plain(classes: Path) -> None:
    plain, other = ((classes / f"{name}.class").read_bytes() for name in ("Reads", "Opens"))
    assert plain_java.is_plain({"Reads.class": plain})
    assert not plain_java.is_plain({"Reads.class": plain, "Opens.class": other})
    assert not plain_java.is_plain({"Reads.class": plain, "Again.class": plain})


def test_damaged_class_files_are_refused(classes: Path) -> None:
    code = (classes / "Reads.class").read_bytes()
    assert class_files.read(code).name == "Reads"
    for size in range(len(code) // 2):
        with pytest.raises(class_files.NotAClassError):
            class_files.read(code[:size])
    for at in range(8, len(code)):
        try:
            class_files.read(code[:at] + bytes([code[at] ^ 0x15]) + code[at + 1 :])
        except class_files.NotAClassError:
            continue
