import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;

/**
 * Runs a submission's main method on a thread with a deep stack. What -Xss gives to one thread, it gives to all. With the
 * argument "shared", it is run once for each test of a box; see ProctorTests.
 */
public class ProctorMain implements Runnable {
    static final long STACK_BYTES = 256L << 20;
    static final int OUT_OF_MEMORY = 111;

    private final Method main;

    private ProctorMain(Method main) {
        this.main = main;
    }

    public static void main(String[] arguments) throws Exception {
        byte[] names = ProctorMain.class.getResourceAsStream("/classes.txt").readAllBytes();
        String[] classes = new String(names, StandardCharsets.UTF_8).split("\n");
        if (arguments.length > 0)
            ProctorTests.run(classes);
        else
            thread(null, ProctorMain.class.getClassLoader(), classes).start();
    }

    /** Return the submission's main thread, which belongs to this group, or to the present one if it is null. */
    static Thread thread(ThreadGroup group, ClassLoader loader, String[] classes) throws Exception {
        Method main = find(loader, classes);
        if (main == null) {
            System.err.println("no class has a method public static void main(String[])");
            System.exit(1);
        }
        return new Thread(group, new ProctorMain(main), "main", STACK_BYTES);
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
            main.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException failed) {
            Throwable cause = failed.getCause();
            System.out.flush();
            System.err.print("Exception in thread \"main\" ");
            cause.printStackTrace();
            Runtime.getRuntime().halt(cause instanceof OutOfMemoryError ? OUT_OF_MEMORY : 1);
        } catch (IllegalAccessException impossible) {
            throw new Error(impossible);
        }
    }
}
