package io.gameq.writer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.servers.TestServers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy in front of the test Redis that looks at what is sent: it can hold what the sender sends,
 * cut at a KILL, delay the reply of a re-assert, and hide which server it is. Thread-safe.
 */
final class RedisTap implements AutoCloseable {
  final CountDownLatch reasserted = new CountDownLatch(1);
  final AtomicInteger cutOnKill = new AtomicInteger();
  final AtomicInteger kills = new AtomicInteger();
  volatile boolean slowReassert;
  volatile boolean hidesRunId;
  private final ServerSocket server;
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final URI target = URI.create(TestServers.redisUri());

  RedisTap() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(
        () -> {
          while (!server.isClosed()) {
            try {
              links.add(new Link(server.accept()));
            } catch (IOException e) {
              // closed
            }
          }
        });
  }

  String uri() {
    return TestServers.redisUri(server.getLocalPort());
  }

  void holdSender() {
    links.stream().filter(link -> link.isSender).forEach(link -> link.holding = true);
  }

  void cutSender() {
    links.stream().filter(link -> link.isSender).forEach(Link::cut);
  }

  void release() throws IOException {
    for (Link link : links) {
      if (link.holding) {
        synchronized (link) {
          link.holding = false;
          link.redis.getOutputStream().write(link.held.toByteArray());
          link.redis.getOutputStream().flush();
        }
      }
    }
  }

  static void daemon(Runnable task) {
    Thread thread = new Thread(task, "tap");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    server.close();
    links.forEach(Link::cut);
  }

  private final class Link {
    final Socket client;
    final Socket redis;
    final ByteArrayOutputStream held = new ByteArrayOutputStream();
    volatile boolean isSender;
    volatile boolean holding;
    private boolean loadedReassert;
    private volatile long repliesFrom;

    Link(Socket client) throws IOException {
      this.client = client;
      this.redis = new Socket(target.getHost(), target.getPort());
      daemon(this::requests);
      daemon(this::replies);
    }

    private void requests() {
      byte[] buffer = new byte[1 << 16];
      try {
        InputStream in = client.getInputStream();
        for (int n; (n = in.read(buffer)) > 0; ) {
          String text = new String(buffer, 0, n, ISO_8859_1);
          if (text.contains("MULTI")) {
            isSender = true;
          }
          if (text.contains("KILL")) {
            kills.incrementAndGet();
          }
          if (text.contains("KILL") && cutOnKill.get() > 0) {
            cutOnKill.decrementAndGet();
            cut();
            return;
          }
          if (loadedReassert && text.contains("EVALSHA")) {
            loadedReassert = false;
            slowReassert = false;
            repliesFrom = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(4_000);
            redis.getOutputStream().write(buffer, 0, n);
            reasserted.countDown();
            continue;
          }
          if (slowReassert && text.contains(" reassert.lua")) {
            loadedReassert = true;
          }
          synchronized (this) {
            if (holding) {
              held.write(buffer, 0, n);
            } else {
              redis.getOutputStream().write(buffer, 0, n);
            }
          }
        }
      } catch (IOException e) {
        // hung up
      }
      if (!holding) {
        cut();
      }
    }

    private void replies() {
      byte[] buffer = new byte[1 << 16];
      try {
        InputStream in = redis.getInputStream();
        for (int n; (n = in.read(buffer)) > 0; ) {
          long left = repliesFrom - System.nanoTime();
          if (repliesFrom != 0 && left > 0) {
            TimeUnit.NANOSECONDS.sleep(left);
          }
          client.getOutputStream().write(hidesRunId ? withoutRunId(buffer, n) : buffer, 0, n);
        }
      } catch (IOException | InterruptedException e) {
        // hung up
      }
      if (!holding) {
        cut();
      }
    }

    /** As long as it was: a reply begins with its length. */
    private byte[] withoutRunId(byte[] reply, int length) {
      return new String(reply, 0, length, ISO_8859_1)
          .replace("run_id:", "hidden:")
          .getBytes(ISO_8859_1);
    }

    void cut() {
      try {
        client.close();
        redis.close();
      } catch (IOException e) {
        // closed already
      }
    }
  }
}
