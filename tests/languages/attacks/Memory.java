// Memory beside the heap: buffers, mapped files, Unsafe. The limit must hold.
// proctor: {"expect": ["MLE", "RTE", "WA", "OLE"], "full": true}
import java.lang.reflect.*;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
public class Memory {
    public static void main(String[] a) throws Exception {
        List<Object> all = new ArrayList<>();
        long total = 0;
        try (FileChannel file = FileChannel.open(Path.of("/tmp/x"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int at = 0; at < 20; at++) {
                MappedByteBuffer block = file.map(FileChannel.MapMode.READ_WRITE, (long) at << 26, 1 << 26);
                for (int i = 0; i < 1 << 26; i += 4096) block.put(i, (byte) 1);
                all.add(block);
                total += 1 << 26;
            }
        } catch (Throwable refused) { System.err.println(refused); }
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        for (int at = 0; at < 20; at++) {
            long block = unsafe.allocateMemory(1 << 26);
            unsafe.setMemory(block, 1 << 26, (byte) 1);
            total += 1 << 26;
        }
        if (total > 900L << 20) System.out.println("ESCAPED " + total);
    }
}
