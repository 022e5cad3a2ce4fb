// Connections. Must fail.
// proctor: {"expect": ["WA", "RTE"], "full": true}
import java.net.*;
import java.nio.channels.*;
public class Network {
    public static void main(String[] a) throws Exception {
        for (String host : new String[] {"127.0.0.1", "169.254.169.254", "8.8.8.8", "::1"})
            for (int port : new int[] {53, 80, 6379, 8080})
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(host, port), 100);
                    System.out.println("ESCAPED connected to " + host);
                } catch (Exception refused) { }
        try { System.out.println("ESCAPED interfaces " + NetworkInterface.networkInterfaces().filter(each -> !each.getName().equals("lo")).findAny().get()); } catch (Exception none) { }
        try { ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of("/tmp/s")); } catch (Exception refused) { }
        System.out.println("held");
    }
}
