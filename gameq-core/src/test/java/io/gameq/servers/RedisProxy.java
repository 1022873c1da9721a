package io.gameq.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A TCP proxy on loopback in front of the test Redis, which can misbehave as networks do.
 * Thread-safe.
 */
public final class RedisProxy implements AutoCloseable {
  private final ServerSocket server = open();
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final URI target = URI.create(TestServers.redisUri());
  private volatile boolean refusing;
  private volatile boolean droppingReplies;

  public RedisProxy() {
    daemon(this::accept);
  }

  private static ServerSocket open() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "redis-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        if (refusing) {
          client.close();
        } else {
          links.add(new Link(client));
        }
      } catch (IOException e) {
        // the proxy was closed, or the client was quicker
      }
    }
  }

  public String uri() {
    return TestServers.redisUri(server.getLocalPort());
  }

  /** Whether new connections are closed at once. */
  public void refuse(boolean refuse) {
    refusing = refuse;
  }

  /**
   * Whether requests arrive but replies do not. A connection that lost a reply is cut when that
   * ends: TCP never delivers what follows a gap.
   */
  public void dropReplies(boolean drop) {
    droppingReplies = drop;
    if (!drop) {
      links.stream().filter(link -> link.hasGap).forEach(Link::cut);
    }
  }

  /** Cuts all connections. */
  public void cut() {
    links.forEach(Link::cut);
  }

  /**
   * What clients of the present connections send is kept back, also when they have hung up; {@link
   * #releaseHeld} delivers it.
   */
  public void holdRequests() {
    links.forEach(link -> link.holding = true);
  }

  /**
   * Delivers what was held, as a network does that retransmits late. Returns how many bytes Redis
   * may have taken.
   */
  public int releaseHeld() {
    return links.stream().filter(link -> link.holding).mapToInt(Link::release).sum();
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }

  private final class Link {
    private final Socket client;
    private final Socket redis;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private volatile boolean holding;
    private volatile boolean hasGap;

    Link(Socket client) throws IOException {
      this.client = client;
      this.redis = new Socket(target.getHost(), target.getPort());
      daemon(() -> pump(client, redis, true));
      daemon(() -> pump(redis, client, false));
    }

    private void pump(Socket from, Socket to, boolean requests) {
      byte[] buffer = new byte[1 << 16];
      try {
        InputStream in = from.getInputStream();
        for (int n; (n = in.read(buffer)) > 0; ) {
          synchronized (this) {
            if (requests && holding) {
              held.write(buffer, 0, n);
            } else if (requests || !(hasGap || droppingReplies)) {
              to.getOutputStream().write(buffer, 0, n);
            } else {
              hasGap = true;
              if (!droppingReplies) { // it ended meanwhile
                cut();
              }
            }
          }
        }
      } catch (IOException e) {
        // one side hung up
      }
      if (!holding) {
        cut();
      }
    }

    private synchronized int release() {
      holding = false;
      try {
        redis.getOutputStream().write(held.toByteArray());
        redis.getOutputStream().flush();
        return held.size();
      } catch (IOException e) {
        return 0;
      }
    }

    private void cut() {
      try {
        client.close();
        redis.close();
      } catch (IOException e) {
        // closed already
      }
    }
  }
}
