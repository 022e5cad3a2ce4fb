// A library of machine code, written to /tmp and loaded; the compiler and the tools of the JDK. Must fail.
// proctor: {"expect": ["WA", "RTE"], "full": true}
import java.nio.file.*;
public class Natives {
    public static void main(String[] a) throws Exception {
        try {
            Path from = Path.of("/usr/lib/x86_64-linux-gnu/libm.so.6"), to = Path.of("/tmp/own.so");
            java.nio.file.Files.copy(from, to);
            System.load(to.toString());
            System.out.println("ESCAPED loaded a library from /tmp");
        } catch (Throwable refused) { System.err.println(refused); }
        try { System.load("/usr/lib/x86_64-linux-gnu/libc.so.6"); } catch (Throwable refused) { }
        System.out.println("held");
    }
}
