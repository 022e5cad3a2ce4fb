// The class that runs main, changed by reflection, and success by hooks at the end. No exit status pays.
// proctor: {"expect": ["WA", "RTE"], "full": true}
import java.lang.reflect.*;
public class Runner {
    public static void main(String[] a) throws Exception {
        Class<?> own = Class.forName("proctor.ProctorMain");
        for (Field field : own.getDeclaredFields())
            try { field.setAccessible(true); field.set(null, 0); } catch (Exception refused) { }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        Thread.setDefaultUncaughtExceptionHandler((thread, why) -> Runtime.getRuntime().halt(0));
        throw new Error("never seen");
    }
}
