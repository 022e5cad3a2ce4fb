// Other programs and signals by the ways that Java has. Must fail.
// proctor: {"expect": ["WA", "RTE"]}
import java.util.*;
public class Processes {
    public static void main(String[] a) throws Exception {
        for (String[] command : new String[][] {{"/bin/sh", "-c", "echo ESCAPED"}, {"/usr/bin/java", "-version"}, {"/bin/kill", "-9", "-1"}}) {
            try {
                Process made = new ProcessBuilder(command).inheritIO().start();
                System.out.println("ESCAPED started " + command[0] + " " + made.waitFor());
            } catch (Exception refused) { }
            try { Runtime.getRuntime().exec(command); System.out.println("ESCAPED exec"); } catch (Exception refused) { }
        }
        ProcessHandle.allProcesses().filter(each -> each.pid() != ProcessHandle.current().pid()).forEach(each -> System.out.println("ESCAPED sees " + each.pid()));
        System.out.println("held");
    }
}
