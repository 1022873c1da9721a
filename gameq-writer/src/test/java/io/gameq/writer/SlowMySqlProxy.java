package io.gameq.writer;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.servers.MySqlServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A TCP proxy in front of MySQL that makes it so many times slower: each answer comes after so many
 * times the time that the server took for it. Thread-safe.
 */
final class SlowMySqlProxy implements AutoCloseable {
  private final ServerSocket server;
  private final int targetPort;
  private final String url;
  private final MySqlServer target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile int times = 1;

  SlowMySqlProxy(MySqlServer target) {
    Matcher port = Pattern.compile("(?<=:)\\d+(?=/)").matcher(target.jdbcUrl());
    if (!port.find()) {
      throw new IllegalArgumentException("no port in " + target.jdbcUrl());
    }
    this.target = target;
    this.targetPort = Integer.parseInt(port.group());
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    url = port.replaceFirst(Integer.toString(server.getLocalPort()));
    daemon(this::accept);
  }

  /** A pool whose connections lead through the proxy. */
  MySql pool(int connections) {
    return MySqlPool.openForFlushes(
        new MySqlConfig(url, target.user(), target.password(), connections));
  }

  /** From now on; 1 is as quick as the server. */
  void slower(int factor) {
    times = factor;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket toServer = new Socket(InetAddress.getLoopbackAddress(), targetPort);
        client.setTcpNoDelay(true);
        toServer.setTcpNoDelay(true);
        sockets.addAll(List.of(client, toServer));
        AtomicLong askedNanos = new AtomicLong();
        daemon(() -> pump(client, toServer, () -> askedNanos.compareAndSet(0, System.nanoTime())));
        daemon(() -> pump(toServer, client, () -> holdBack(askedNanos.getAndSet(0))));
      } catch (IOException e) {
        // the proxy was closed
      }
    }
  }

  private void holdBack(long askedNanos) {
    int factor = times;
    if (askedNanos != 0 && factor > 1) {
      long until = System.nanoTime() + (factor - 1) * (System.nanoTime() - askedNanos);
      for (long left; (left = until - System.nanoTime()) > 0; ) {
        LockSupport.parkNanos(left);
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
    Thread thread = new Thread(task, "slow-mysql-proxy");
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
