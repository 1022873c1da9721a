package io.gameq.servers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy between one process and one server that misbehaves as networks do, and that holds a
 * chosen message while something happens. Thread-safe.
 */
public final class FaultProxy implements AutoCloseable {
  private final ServerSocket server;
  private final int targetPort;
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final List<Link> vanished = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
  private volatile boolean refusing;
  private volatile boolean swallowing;
  private volatile boolean droppingReplies;
  private volatile boolean damaged;
  private volatile int delayMillis;
  private final Supplier<Observer> observers;

  /** What a test does with the bytes of one connection; called by its two threads. */
  public interface Observer {
    /** Before a request goes on; false when it does not, or the observer has sent it itself. */
    default boolean request(Link link, byte[] buffer, int length) throws IOException {
      return true;
    }

    /** Before a reply goes on; may change its bytes. */
    default void reply(byte[] buffer, int length) {}
  }

  public FaultProxy(int targetPort) {
    this(targetPort, () -> new Observer() {});
  }

  /** One in front of the test Redis. */
  public static FaultProxy ofRedis() {
    return ofRedis(() -> new Observer() {});
  }

  /** The same with an observer for each connection. */
  public static FaultProxy ofRedis(Supplier<Observer> observers) {
    return new FaultProxy(URI.create(TestServers.redisUri()).getPort(), observers);
  }

  /** With an observer for each connection. */
  public FaultProxy(int targetPort, Supplier<Observer> observers) {
    this.targetPort = targetPort;
    this.observers = observers;
    try {
      server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::accept);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "fault-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        take(server.accept());
      } catch (IOException e) {
        // the proxy was closed, or one side was quicker
      }
    }
  }

  /**
   * Serves a connection as if it had been made to this proxy's port; throws when the server cannot
   * be reached, with the connection closed.
   */
  public void take(Socket client) throws IOException {
    if (refusing) {
      client.close();
    } else {
      new Link(client).start();
    }
  }

  public int port() {
    return server.getLocalPort();
  }

  /** With the login of a node; of a proxy in front of Redis. */
  public String uri() {
    return TestServers.redisUri(port());
  }

  // --- faults

  /** Sets a trap for the next message; one at a time. */
  public Trap set(Trap next) {
    trap.set(next);
    return next;
  }

  /** Cuts all connections. */
  public void cut() {
    links.forEach(Link::cut);
  }

  /** Whether new connections are closed at once. */
  public void refuse(boolean refuse) {
    refusing = refuse;
  }

  /** Half-open: both sides believe in the connection, and nothing arrives. */
  public void swallow() {
    damaged = true;
    swallowing = true;
  }

  /** Requests arrive, replies do not. */
  public void dropReplies() {
    damaged = true;
    droppingReplies = true;
  }

  /** Each packet comes late: by half of this at least. */
  public void delay(int millis) {
    delayMillis = millis;
  }

  /** Keeps back what clients of the present connections send, also when they have hung up. */
  public void holdRequests() {
    links.forEach(Link::hold);
  }

  /** Delivers what was held, as a network does that retransmits late. */
  public void releaseHeld() {
    links.stream().filter(link -> link.holding).forEach(Link::release);
  }

  /**
   * The client's host has vanished: the server believes in the present connections for ever, and
   * nothing arrives on them any more.
   */
  public void vanish() {
    links.forEach(link -> link.hasVanished = true);
    vanished.addAll(links);
    links.clear();
  }

  /** Behaves from now on; connections whose stream has holes are cut. */
  public void heal() {
    heal(null);
  }

  /** The same, with a trap for what comes then. */
  public void heal(@Nullable Trap next) {
    trap.set(next);
    refusing = false;
    swallowing = false;
    droppingReplies = false;
    delayMillis = 0;
    releaseHeld();
    if (damaged) {
      damaged = false;
      cut();
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // closed already
    }
    cut();
    vanished.forEach(Link::cut);
  }

  /** A client's connection and the one that leads on to the server. Thread-safe. */
  public final class Link {
    private final Socket client;
    private final Socket target;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private final Observer observer = observers.get();
    private volatile boolean holding;
    private volatile boolean clientGone;
    private volatile boolean hasVanished;
    private volatile @Nullable Trap awaitingReply;
    private String requestTail = "";
    private String replyText = "";

    Link(Socket client) throws IOException {
      this.client = client;
      try {
        target = new Socket(InetAddress.getLoopbackAddress(), targetPort);
      } catch (IOException e) {
        client.close();
        throw e;
      }
      client.setTcpNoDelay(true);
      target.setTcpNoDelay(true);
    }

    void start() {
      links.add(this);
      daemon(() -> pump(client, target, true));
      daemon(() -> pump(target, client, false));
    }

    private void pump(Socket from, Socket to, boolean requests) {
      byte[] buffer = new byte[1 << 16];
      try {
        InputStream in = from.getInputStream();
        for (int n; (n = in.read(buffer)) > 0; ) {
          delayIfTold();
          if (requests ? passes(buffer, n) : passesBack(buffer, n)) {
            to.getOutputStream().write(buffer, 0, n);
          }
        }
      } catch (IOException e) {
        // one side hung up
      }
      clientGone |= requests;
      if (!holding && !swallowing && !hasVanished) { // else the other side does not learn of it
        cut();
      }
    }

    private void delayIfTold() {
      int most = delayMillis;
      if (most > 0) {
        LockSupport.parkNanos(
            TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(most / 2, most + 1)));
      }
    }

    /** Whether a request goes on to the server. */
    private boolean passes(byte[] buffer, int n) throws IOException {
      if (!observer.request(this, buffer, n)) {
        return false;
      }
      synchronized (held) {
        if (holding) {
          held.write(buffer, 0, n);
          return false;
        }
      }
      Trap set = trap.get();
      if (set != null) {
        String text = requestTail + new String(buffer, 0, n, ISO_8859_1);
        requestTail = text.substring(Math.max(0, text.length() - set.overlap()));
        if (set.catches(text) && trap.compareAndSet(set, null)) {
          requestTail = "";
          if (set.reply() != null) {
            replyText = "";
            awaitingReply = set;
          } else {
            springAndCheck(set);
          }
        }
      }
      return !swallowing && !hasVanished;
    }

    /** Whether a reply goes on to the client. */
    private boolean passesBack(byte[] buffer, int n) throws IOException {
      observer.reply(buffer, n);
      Trap waiting = awaitingReply;
      if (waiting != null) {
        replyText += new String(buffer, 0, n, ISO_8859_1);
        if (replyText.contains(Objects.requireNonNull(waiting.reply()))) {
          awaitingReply = null;
          springAndCheck(waiting);
        }
      }
      return !swallowing && !droppingReplies && !hasVanished;
    }

    private void springAndCheck(Trap caught) throws IOException {
      caught.spring();
      if (!caught.delivers()) {
        throw new IOException("the message is not delivered"); // ends the pump and cuts the link
      }
    }

    /** Keeps back what the client sends, also when it has hung up. */
    public void hold() {
      holding = true;
    }

    /** Sends it to the server at once. */
    public void send(byte[] buffer, int n) throws IOException {
      target.getOutputStream().write(buffer, 0, n);
    }

    /** Delivers what was held. */
    public void release() {
      synchronized (held) {
        holding = false;
        try {
          target.getOutputStream().write(held.toByteArray());
        } catch (IOException e) {
          // the server has closed this connection, as it should
        }
        held.reset();
      }
      if (clientGone) {
        cut();
      }
    }

    /** Closes both. */
    public void cut() {
      links.remove(this);
      try {
        client.close();
        target.close();
      } catch (IOException e) {
        // closed already
      }
    }
  }
}
