package io.gameq.writer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy that counts how often clients sent something after the server's last answer.
 * Thread-safe.
 */
final class RoundTripProxy implements AutoCloseable {
  private final ServerSocket server;
  private final int targetPort;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicInteger trips = new AtomicInteger();

  RoundTripProxy(int targetPort) {
    this.targetPort = targetPort;
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** On all connections since the proxy was made. */
  int trips() {
    return trips.get();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket target = new Socket(InetAddress.getLoopbackAddress(), targetPort);
        client.setTcpNoDelay(true);
        target.setTcpNoDelay(true);
        sockets.addAll(List.of(client, target));
        AtomicBoolean answered = new AtomicBoolean(true);
        daemon(
            () ->
                pump(
                    client,
                    target,
                    () -> trips.addAndGet(answered.compareAndSet(true, false) ? 1 : 0)));
        daemon(() -> pump(target, client, () -> answered.set(true)));
      } catch (IOException e) {
        // the proxy was closed
      }
    }
  }

  private static void pump(Socket from, Socket to, Runnable seen) {
    byte[] buffer = new byte[1 << 16];
    try {
      InputStream in = from.getInputStream();
      for (int n; (n = in.read(buffer)) > 0; ) {
        seen.run();
        to.getOutputStream().write(buffer, 0, n);
      }
      to.close();
    } catch (IOException e) {
      // one side hung up
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "round-trip-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
