package proctor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs a submission's main method on a thread with a deep stack. What -Xss gives to one thread, it gives to all. With the
 * argument SHARED, it is run once for each test of a box; see ProctorTests. Other arguments, those of a judge, are its own.
 */
public class ProctorMain implements Runnable {
    private static final long LEAST_STACK_BYTES = 64L << 20;
    private static final long MOST_STACK_BYTES = 256L << 20;
    static final int OUT_OF_MEMORY = 111;
    private static final String SHARED = "--shared-box";
    /** A program that has this class among its own runs with assertions, as with -ea. */
    private static final String ASSERTIONS = "proctor.Assertions";

    private final Method main;
    private final String[] arguments;

    private ProctorMain(Method main, String[] arguments) {
        this.main = main;
        this.arguments = arguments;
    }

    public static void main(String[] arguments) throws Exception {
        byte[] names = ProctorMain.class.getResourceAsStream("/classes.txt").readAllBytes();
        String[] classes = new String(names, StandardCharsets.UTF_8).split("\n");
        if (arguments.length == 1 && arguments[0].equals(SHARED))
            ProctorTests.run(classes);
        else
            thread(null, ProctorMain.class.getClassLoader(), classes, arguments).start();
    }

    /** Return the submission's main thread, which belongs to this group, or to the present one if it is null. */
    static Thread thread(ThreadGroup group, ClassLoader loader, String[] classes, String... arguments) throws Exception {
        if (Arrays.asList(classes).contains(ASSERTIONS))
            loader.setDefaultAssertionStatus(true);
        Method main = find(loader, classes);
        if (main == null) {
            System.err.println("no class has a method public static void main(String[])");
            System.exit(1);
        }
        return new Thread(group, new ProctorMain(main, arguments), "main", stackBytes());
    }

    /** As much as the heap may have, within bounds: with more, a recursion without end would exceed the memory limit. */
    private static long stackBytes() {
        return Math.min(MOST_STACK_BYTES, Math.max(LEAST_STACK_BYTES, Runtime.getRuntime().maxMemory()));
    }

    private static Method find(ClassLoader loader, String[] classes) throws Exception {
        for (String name : classes) {
            try {
                Method main = Class.forName(name, false, loader).getMethod("main", String[].class);
                if (Modifier.isStatic(main.getModifiers())) {
                    main.setAccessible(true);
                    return main;
                }
            } catch (NoSuchMethodException | NoClassDefFoundError none) {
                continue;
            }
        }
        return null;
    }

    @Override
    public void run() {
        try {
            main.invoke(null, (Object) arguments);
        } catch (InvocationTargetException failed) {
            fail(failed.getCause());
        } catch (Throwable failed) { // of the class itself: its static initialiser, or a class that it needs
            fail(failed);
        }
    }

    private static void fail(Throwable cause) {
        System.out.flush();
        System.err.print("Exception in thread \"main\" ");
        cause.printStackTrace();
        boolean memory = cause instanceof OutOfMemoryError || cause.getCause() instanceof OutOfMemoryError;
        Runtime.getRuntime().halt(memory ? OUT_OF_MEMORY : 1);
    }
}
