package io.gameq.lab.bench.redis;

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
 * with some groups without an answer at a time. One thread.
 */
public final class RawRedis {
  private static final int BUFFER_BYTES = 1 << 18;

  /** Commits in one MULTI, as many as gameq's sender takes. */
  private static final int COMMITS_PER_GROUP = 256;

  private static final int GROUPS_IN_FLIGHT = 4;
  static final int COMMITS_IN_FLIGHT = GROUPS_IN_FLIGHT * COMMITS_PER_GROUP;

  private final List<byte[]> groups = new ArrayList<>();
  private final String journal;
  private long commits;

  /** Prepares {@code most} commits, or as many as memory is spent on. */
  public RawRedis(RawCommits source, long most) {
    journal = source.journal();
    long dueMillis = System.currentTimeMillis();
    for (long bytes = 0; commits < most && bytes < RawCommits.MOST_BYTES; ) {
      Group group = new Group();
      for (int i = 0; i < COMMITS_PER_GROUP && commits < most; i++, commits++) {
        group.commit(source.next(), dueMillis);
      }
      byte[] ready = group.end(commits);
      bytes += ready.length;
      groups.add(ready);
    }
  }

  /** Throws {@link io.gameq.lab.bench.BenchException} when {@link #run} could not use this URI. */
  public static void checkUri(String redis) {
    var unused = RedisAddress.of(redis);
  }

  /** How many were prepared. */
  public long commits() {
    return commits;
  }

  /**
   * Sends all and waits for the answers; returns how many seconds that took.
   *
   * @param redis {@code redis://[user:password@]host:port[/database]}
   * @throws IOException when the server refuses or closes the connection
   */
  public double run(String redis) throws IOException {
    RedisAddress address = RedisAddress.of(redis);
    try (Socket socket = new Socket(address.host(), address.port());
        OutputStream out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
        InputStream in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES)) {
      socket.setTcpNoDelay(true);
      logIn(address, out, in);
      long began = System.nanoTime();
      int unanswered = 0;
      for (byte[] group : groups) {
        if (unanswered == GROUPS_IN_FLIGHT) {
          awaitExec(in);
          unanswered--;
        }
        out.write(group);
        out.flush();
        unanswered++;
      }
      for (; unanswered > 0; unanswered--) {
        awaitExec(in);
      }
      return (System.nanoTime() - began) / 1e9;
    }
  }

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
      command("HSET", journal, RawCommits.WAL, Long.toString(sequence));
      command("EXEC");
      return bytes.toByteArray();
    }
  }
}
