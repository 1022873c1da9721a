package io.gameq.writer.bench.redis;

import io.gameq.OwnerId;
import io.gameq.writer.bench.workload.Actions;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
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

  private final List<byte[]> groups = new ArrayList<>();
  private long commits;

  /** Prepares {@code count} actions of all threads in turn; {@code slots} as the namespace has. */
  public RawRedis(List<Actions> actions, long count, String namespace, int slots) {
    long dueMillis = System.currentTimeMillis();
    int thread = 0;
    while (commits < count) {
      Group group = new Group();
      for (int i = 0; i < COMMITS_PER_GROUP && commits < count; i++, commits++) {
        Actions action = actions.get(thread++ % actions.size());
        action.next();
        group.commit(action, namespace, slots, dueMillis);
      }
      groups.add(group.bytes(commits));
    }
  }

  public long commits() {
    return commits;
  }

  /** Sends all to the server at {@code redis://host:port} and waits for the answers. */
  public double run(String redis) throws IOException {
    URI uri = URI.create(redis);
    try (Socket socket = new Socket(uri.getHost(), uri.getPort() < 0 ? 6379 : uri.getPort());
        OutputStream out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
        InputStream in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES)) {
      socket.setTcpNoDelay(true);
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

  /** One MULTI. */
  private static final class Group {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Group() {
      command("MULTI");
    }

    void commit(Actions action, String namespace, int slots, long dueMillis) {
      OwnerId owner = OwnerId.of("player:" + action.player());
      String slot = "{" + namespace + ":" + owner.slot(slots) + "}";
      String session = "0000000000000001.0123456789abcdef"; // as long as a real one
      command("GET", slot + ":own:" + owner.encoded());
      begin(2 + 2 * action.rows());
      word("HSET");
      word(slot + ":dirty:" + owner.encoded() + ":" + session);
      for (int i = 0; i < action.rows(); i++) {
        word("bench_row:" + action.player() + "," + action.slot(i));
        word(image(action, i));
      }
      command(
          "ZADD", slot + ":due", "LT", Long.toString(dueMillis), owner.encoded() + ":" + session);
    }

    /** As long as an encoded row is: version, kind, fingerprint, and the values. */
    private static byte[] image(Actions action, int i) {
      byte[] payload = action.row(i).payload();
      byte[] image = new byte[17 + 6 + 5 + 1 + 5 + 2 + payload.length];
      System.arraycopy(payload, 0, image, image.length - payload.length, payload.length);
      return image;
    }

    byte[] bytes(long sequence) {
      command(
          "HSET", "{bench:0}:journal", "node-20260101T000000Z-01234567", Long.toString(sequence));
      command("EXEC");
      return bytes.toByteArray();
    }

    private void command(String... words) {
      begin(words.length);
      for (String word : words) {
        word(word);
      }
    }

    private void begin(int words) {
      ascii("*" + words + "\r\n");
    }

    private void word(String word) {
      word(word.getBytes(StandardCharsets.US_ASCII));
    }

    private void word(byte[] word) {
      ascii("$" + word.length + "\r\n");
      bytes.writeBytes(word);
      ascii("\r\n");
    }

    private void ascii(String text) {
      bytes.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
