package proctor;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/**
 * Runs a submission's main method once for each test of a shared box: with classes of its own, so that all static fields
 * are new, new standard streams, and threads of its own. An object is the class loader of one test.
 *
 * The host decides what is a pass. It sees a byte when a test has ended well, compares the output, puts the next input
 * into the file behind STDIN, empties the others, and sends a byte. It ends the box instead if it has seen enough. Which
 * programs may run here is decided before (plain_java.py); what is checked after a test is what these can leave.
 */
final class ProctorTests extends ClassLoader {
    private static final String STDIN = "/proc/self/fd/3", STDOUT = "/proc/self/fd/4", STDERR = "/proc/self/fd/2";
    private static final int BYTE = 'D', OUTPUT_BUFFER = 128;
    private static final Map<String, byte[]> CLASSES = new HashMap<>();

    private ProctorTests() {
        super(ClassLoader.getPlatformClassLoader());
    }

    /** Run tests until the host ends the box, or a test leaves something behind. */
    static void run(String[] classes) throws Exception {
        InputStream next = new FileInputStream(FileDescriptor.in); // both are the channel
        OutputStream ended = new FileOutputStream(FileDescriptor.out);
        Settings settings = new Settings();
        read(classes);
        boolean isClean = true;
        while (isClean) {
            isClean = runOne(classes) && settings.areAsBefore();
            ended.write(BYTE);
            if (next.read() != BYTE)
                break;
            settings.putBack();
        }
        Runtime.getRuntime().halt(0); // the host has what it needs, or will repeat the test
    }

    /** Run a test; return false if it leaves threads behind. Does not return if its main method fails. */
    private static boolean runOne(String[] classes) throws Exception {
        ThreadGroup group = new ThreadGroup("main");
        try (InputStream in = new FileInputStream(STDIN);
                OutputStream out = new FileOutputStream(STDOUT);
                OutputStream err = new FileOutputStream(STDERR)) {
            System.setIn(new BufferedInputStream(in));
            System.setOut(printer(out, "stdout.encoding"));
            System.setErr(printer(err, "stderr.encoding"));
            ClassLoader loader = new ProctorTests();
            Thread main = ProctorMain.thread(group, loader, classes);
            main.setContextClassLoader(loader);
            main.start();
            return await(group);
        }
    }

    /** Return a stream like the virtual machine's own; newer ones have a property for its encoding. */
    private static PrintStream printer(OutputStream to, String property) throws IOException {
        String encoding = System.getProperty(property, Charset.defaultCharset().name());
        return new PrintStream(new BufferedOutputStream(to, OUTPUT_BUFFER), true, encoding);
    }

    /** Wait for the threads for which a virtual machine waits at its end; return false if others are left. */
    private static boolean await(ThreadGroup group) throws InterruptedException {
        for (;;) {
            Thread[] threads = new Thread[group.activeCount() + 1];
            int count = group.enumerate(threads);
            Thread awaited = null;
            for (int i = 0; i < count; i++)
                if (!threads[i].isDaemon())
                    awaited = threads[i];
            if (awaited == null)
                return count == 0;
            awaited.join();
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found != null)
                return found;
            byte[] code = CLASSES.get(name);
            return code == null ? super.loadClass(name, resolve) : defineClass(name, code, 0, code.length);
        }
    }

    private static void read(String[] classes) throws IOException {
        for (String name : classes) {
            String path = name.replace('.', '/').concat(".class"); // not `+`, whose first use in a process takes 20 ms
            try (InputStream in = ProctorTests.class.getClassLoader().getResourceAsStream(path)) {
                CLASSES.put(name, in.readAllBytes());
            }
        }
    }

    /** The settings of the virtual machine that a test might change. */
    private static final class Settings {
        private final Properties properties = (Properties) System.getProperties().clone();
        private final Locale locale = Locale.getDefault();
        private final Locale display = Locale.getDefault(Locale.Category.DISPLAY);
        private final Locale format = Locale.getDefault(Locale.Category.FORMAT);

        boolean areAsBefore() {
            return System.getProperties().equals(properties);
        }

        void putBack() {
            Locale.setDefault(locale);
            Locale.setDefault(Locale.Category.DISPLAY, display);
            Locale.setDefault(Locale.Category.FORMAT, format);
        }
    }
}
