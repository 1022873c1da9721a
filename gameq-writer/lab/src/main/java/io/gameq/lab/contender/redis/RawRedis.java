package io.gameq.lab.contender.redis;

import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.Workload;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The limit of Redis: the commands that commits send, ready as bytes, through one plain socket,
 * with some groups without an answer at a time. One game thread; its load ends when all groups are
 * answered, the single action is not followed.
 */
public final class RawRedis implements Contender {
  private static final int BUFFER_BYTES = 1 << 18;

  /** Commits in one MULTI, as many as gameq's sender takes. */
  private static final int COMMITS_PER_GROUP = 256;

  private static final int GROUPS_IN_FLIGHT = 4;

  /** Actions of its game thread, and of the plain client's, that may wait for an answer. */
  public static final int COMMITS_IN_FLIGHT = GROUPS_IN_FLIGHT * COMMITS_PER_GROUP;

  private final RedisAddress address;
  private final CommitBytes form;
  private final List<Ready> groups = new ArrayList<>();

  private record Ready(byte[] bytes, int commits) {
    @Override
    public String toString() {
      return commits + " commits";
    }
  }

  /**
   * Sends to {@code redis://[user:password@]host:port[/database]}.
   *
   * @throws io.gameq.lab.workload.BenchException for a URI that a plain socket cannot use
   */
  public RawRedis(String redis, CommitBytes form) {
    this.address = RedisAddress.of(redis);
    this.form = form;
  }

  /** Throws {@link io.gameq.lab.workload.BenchException} when this URI could not be used. */
  public static void checkUri(String redis) {
    var unused = RedisAddress.of(redis);
  }

  /** Makes the bytes of all actions, or as many as memory is spent on. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    groups.clear();
    Actions actions = workload.actions(0);
    long commits = 0;
    long dueMillis = System.currentTimeMillis();
    for (long bytes = 0; commits < actionsPerThread && bytes < CommitBytes.MOST_BYTES; ) {
      Group group = new Group();
      int size = (int) Math.min(COMMITS_PER_GROUP, actionsPerThread - commits);
      for (int i = 0; i < size; i++) {
        actions.next();
        group.commit(form.of(actions), dueMillis);
      }
      commits += size;
      byte[] ready = group.end(commits);
      bytes += ready.length;
      groups.add(new Ready(ready, size));
    }
  }

  @Override
  public GameThread gameThread(int thread) throws IOException {
    if (thread > 0) {
      throw new IllegalArgumentException("one socket has one game thread");
    }
    return new Sending();
  }

  /** Counts actions and sends each group when its last one comes. */
  private final class Sending implements GameThread {
    private final Socket socket = new Socket(address.host(), address.port());
    private final OutputStream out =
        new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
    private final InputStream in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
    private int next;
    private int counted;
    private int unanswered;

    Sending() throws IOException {
      socket.setTcpNoDelay(true);
      logIn(address, out, in);
    }

    @Override
    public Acknowledgement perform(Actions action) throws IOException {
      if (++counted == groups.get(next).commits()) {
        send();
      }
      return Acknowledgement.DONE;
    }

    private void send() throws IOException {
      if (unanswered == GROUPS_IN_FLIGHT) {
        awaitExec(in);
        unanswered--;
      }
      out.write(groups.get(next).bytes());
      out.flush();
      unanswered++;
      counted = 0;
      next = (next + 1) % groups.size();
    }

    @Override
    public void close() throws IOException {
      try (socket) {
        if (counted > 0) {
          send();
        }
        for (; unanswered > 0; unanswered--) {
          awaitExec(in);
        }
      }
    }
  }

  @Override
  public void flush() {}

  @Override
  public long rowsWritten() {
    return 0;
  }

  @Override
  public void close() {}

  private static void logIn(RedisAddress address, OutputStream out, InputStream in)
      throws IOException {
    Commands login = new Commands();
    address.login().ifPresent(words -> login.command(words));
    login.command("SELECT", address.database());
    out.write(login.bytes.toByteArray());
    out.flush();
    for (int i = address.login().isPresent() ? 2 : 1; i > 0; i--) {
      readReply(in);
    }
  }

  /** Reads up to the end of the next array: EXEC's answer, the only one. */
  private static void awaitExec(InputStream in) throws IOException {
    while (readReply(in) != '*') {}
  }

  private static int readReply(InputStream in) throws IOException {
    int kind = in.read();
    long number = readLine(in);
    switch (kind) {
      case '$' -> in.skipNBytes(number < 0 ? 0 : number + 2);
      case '*' -> {
        for (long i = 0; i < number; i++) {
          readReply(in);
        }
      }
      case '+', ':' -> {}
      case -1 -> throw new EOFException("Redis closed the connection");
      default -> throw new IOException("Redis answered an error");
    }
    return kind;
  }

  private static long readLine(InputStream in) throws IOException {
    long number = 0;
    boolean negative = false;
    for (int next; (next = in.read()) != '\r'; ) {
      if (next < 0) {
        throw new EOFException("Redis closed the connection");
      }
      negative |= next == '-';
      number = next >= '0' && next <= '9' ? 10 * number + next - '0' : number;
    }
    int unused = in.read();
    return negative ? -number : number;
  }

  /** Commands of the Redis protocol, one after the other. */
  private static class Commands {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    final void command(String... words) {
      begin(words.length);
      for (String word : words) {
        word(word);
      }
    }

    final void begin(int words) {
      ascii("*" + words + "\r\n");
    }

    final void word(String word) {
      word(word.getBytes(StandardCharsets.US_ASCII));
    }

    final void word(byte[] word) {
      ascii("$" + word.length + "\r\n");
      bytes.writeBytes(word);
      ascii("\r\n");
    }

    private void ascii(String text) {
      bytes.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
  }

  /** One MULTI. */
  private final class Group extends Commands {
    Group() {
      command("MULTI");
    }

    void commit(RawCommit commit, long dueMillis) {
      command("GET", commit.own());
      begin(2 + commit.rows().size());
      word("HSET");
      word(commit.dirty());
      commit.rows().forEach(this::word);
      command("ZADD", commit.due(), "LT", Long.toString(dueMillis), commit.member());
    }

    byte[] end(long sequence) {
      command("HSET", form.journal(), CommitBytes.WAL, Long.toString(sequence));
      command("EXEC");
      return bytes.toByteArray();
    }
  }
}
