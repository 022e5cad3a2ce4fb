// Everything that can be read below the root, but for the system's own folders, printed. The answer must not be in it.
// proctor: {"expect": ["WA", "RTE", "OLE", "TLE"]}
import java.io.*;
import java.nio.file.*;
import java.nio.file.attribute.BasicFileAttributes;
public class Files {
    public static void main(String[] a) throws Exception {
        System.getenv().forEach((name, value) -> System.out.println(name + "=" + value));
        java.nio.file.Files.walkFileTree(Path.of("/"), new SimpleFileVisitor<Path>() {
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes seen) {
                return folder.startsWith("/usr") || folder.startsWith("/sys") || folder.startsWith("/proc") && !folder.equals(Path.of("/proc")) && !folder.startsWith("/proc/self") ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }
            public FileVisitResult visitFile(Path file, BasicFileAttributes seen) {
                try (InputStream in = new FileInputStream(file.toFile())) {
                    if (seen.isRegularFile() && !file.toString().endsWith("mem")) System.out.write(in.readNBytes(4096));
                } catch (IOException refused) { }
                return FileVisitResult.CONTINUE;
            }
            public FileVisitResult visitFileFailed(Path file, IOException why) { return FileVisitResult.CONTINUE; }
        });
    }
}
