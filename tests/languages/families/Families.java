// Attacks by what the virtual machine has. The first word of the input names the one to run; `clean` looks for what one left.
import java.io.*;
import java.lang.invoke.*;
import java.lang.management.ManagementFactory;
import java.lang.ref.Cleaner;
import java.lang.reflect.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

public class Families {
    interface Act { Object run() throws Throwable; }

    static void escaped(String what) { System.out.println("ESCAPED " + what); }
    static Object quiet(Act act) { try { return act.run(); } catch (Throwable refused) { return null; } }
    static void refused(String what, Act act) { if (quiet(act) != null) escaped(what); }
    static sun.misc.Unsafe unsafe() throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (sun.misc.Unsafe) field.get(null);
    }

    // other processes and machine code
    static void attach() {
        refused("attached to itself", () -> {
            Class<?> machine = Class.forName("com.sun.tools.attach.VirtualMachine");
            return machine.getMethod("attach", String.class).invoke(null, "" + ProcessHandle.current().pid());
        });
        refused("forked", () -> {
            Class<?> made = Class.forName("java.lang.ProcessImpl");
            Method start = made.getDeclaredMethods()[0];
            start.setAccessible(true);
            return start;
        });
        for (String name : new String[] {"POSIX_SPAWN", "FORK", "VFORK"})
            refused(name, () -> {
                System.setProperty("jdk.lang.Process.launchMechanism", name);
                return new ProcessBuilder("/bin/sh", "-c", "echo ESCAPED").inheritIO().start();
            });
        refused("an agent", () -> Class.forName("sun.instrument.InstrumentationImpl").getDeclaredMethod("loadAgent").invoke(null));
    }
    static void libraries() throws Exception {
        Path own = Path.of("/tmp/libown.so");
        quiet(() -> Files.copy(Path.of("/usr/lib/x86_64-linux-gnu/libm.so.6"), own));
        refused("loaded a library from /tmp", () -> { System.load(own.toString()); return true; });
        refused("loaded a library from /dev/shm", () -> {
            Files.copy(own, Path.of("/dev/shm/libown.so"));
            System.load("/dev/shm/libown.so");
            return true;
        });
        System.setProperty("java.library.path", "/tmp");
        refused("loaded a library by name", () -> { System.loadLibrary("own"); return true; });
    }

    // memory that the heap's limit does not bound
    static void unsafe_memory() throws Exception {
        for (int block = 0; block < 24; block++) {
            long at = unsafe().allocateMemory(64 << 20);
            unsafe().setMemory(at, 64 << 20, (byte) 1);
            if (block > 16) escaped(block * 64 + " MiB");
        }
    }
    static void crashes() throws Exception { unsafe().putAddress(0, 0); }
    static void scribbles() throws Exception {
        Object[] hook = {Integer.valueOf(1)};
        for (long at = 16; at < 1 << 14; at += 8) unsafe().putLong(hook, at, -1L);
    }

    // the machine that runs the tests
    static void classes() {
        refused("a class in java.lang", () -> {
            Method define = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class, int.class, int.class);
            define.setAccessible(true);
            return define;
        });
        refused("a closed package", () -> { Module base = Object.class.getModule(); base.addOpens("java.lang", Families.class.getModule()); return base; });
        escapedUnless(System.getSecurityManager() == null, "a manager");
        quiet(() -> { System.setSecurityManager(new SecurityManager() { public void checkExit(int status) { throw new SecurityException(); } public void checkPermission(java.security.Permission any) { } }); return null; });
        quiet(() -> { URL.setURLStreamHandlerFactory(null); return null; });
        quiet(() -> MethodHandles.privateLookupIn(Class.forName("proctor.ProctorMain"), MethodHandles.lookup()).findStatic(Class.forName("proctor.ProctorMain"), "fail", MethodType.methodType(void.class, Throwable.class)).invoke(new Error()));
    }
    static void escapedUnless(boolean good, String what) { if (!good) escaped(what); }
    static void beans() throws Exception {
        System.out.println(ManagementFactory.getRuntimeMXBean().getInputArguments());
        quiet(() -> ManagementFactory.getPlatformMBeanServer().getMBeanCount());
        refused("a dump elsewhere", () -> {
            Object bean = ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
            ((com.sun.management.HotSpotDiagnosticMXBean) bean).dumpHeap("/usr/dump.hprof", false);
            return true;
        });
    }

    // ends
    static void hooks() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> { System.out.println("late"); Runtime.getRuntime().halt(0); }));
        Cleaner.create().register(new Object(), () -> Runtime.getRuntime().halt(0));
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> System.exit(0));
        System.gc();
        throw new StackOverflowError();
    }
    static void exit_in_hook() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.exit(0)));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        System.exit(1);
    }
    static void threads() throws Exception {
        for (int i = 0; i < 5000; i++) {
            Thread one = new Thread(null, () -> { try { Thread.sleep(100000); } catch (InterruptedException end) { } }, "t", 1 << 16);
            one.setDaemon(true);
            if (quiet(() -> { one.start(); return one; }) == null) break;
            if (i > 1000) escaped(i + " threads");
        }
        Runtime.getRuntime().halt(0);
    }

    // what is found and left
    static void files() throws Exception {
        for (String path : new String[] {"/proc/self/mem", "/proc/1/mem", "/usr/x", "/etc/passwd", "/proc/self/exe", "/tmp/solution.jar"})
            if (!path.startsWith("/tmp")) refused("wrote " + path, () -> { try (RandomAccessFile file = new RandomAccessFile(path, "rw")) { file.write(1); return path; } });
        for (String path : new String[] {"/root", "/home", "/var", "/srv", "/proc/1/root/root"})
            if (new File(path).list() != null && new File(path).list().length > 0) escaped("lists " + path);
        for (int i = 0; i < 300; i++) { int at = i; quiet(() -> Files.writeString(Path.of("/tmp/left" + at), "x")); }
        quiet(() -> Files.writeString(Path.of("/dev/shm/left"), "x"));
        Locale.setDefault(Locale.GERMANY);
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
        System.setProperty("line.separator", "#");
        ForkJoinPool.commonPool().submit(() -> { for (;;) Thread.onSpinWait(); });
    }
    static void clean() {
        String[] inTmp = new File("/tmp").list(), shared = new File("/dev/shm").list();
        for (String name : inTmp) if (!name.equals("solution.jar") && !name.startsWith("hsperfdata")) escaped(name + " is in /tmp");
        escapedUnless(shared == null || shared.length == 0 || Arrays.equals(shared, inTmp), "files in /dev/shm");
        escapedUnless(Locale.getDefault().getCountry().isEmpty() && TimeZone.getDefault().getRawOffset() == 0 && System.lineSeparator().equals("\n"), "settings");
        System.out.println("clean");
    }

    public static void main(String[] none) throws Throwable {
        String name = new BufferedReader(new InputStreamReader(System.in)).readLine().trim();
        try {
            Families.class.getDeclaredMethod(name).invoke(null);
        } catch (InvocationTargetException failed) {
            throw failed.getCause();
        }
    }
}
