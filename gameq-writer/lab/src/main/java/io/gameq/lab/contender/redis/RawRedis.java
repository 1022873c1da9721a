package io.gameq.lab.contender.redis;

import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Workload;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
 * The limit of Redis: the groups of commits that gameq sends, byte for byte, ready in memory,
 * through one plain socket. One game thread.
 */
public final class RawRedis implements Contender {
  private static final int BUFFER_BYTES = 1 << 18;

  /** Actions of its game thread, and of the plain client's, that may wait for an answer. */
  public static final int COMMITS_IN_FLIGHT =
      GroupThread.GROUPS_IN_FLIGHT * CommitBytes.COMMITS_PER_GROUP;

  private final RedisAddress address;
  private final CommitBytes form;
  private final List<byte[]> groups = new ArrayList<>();
  private final List<Integer> commits = new ArrayList<>();

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
    commits.clear();
    form.forEachGroup(
        workload,
        actionsPerThread,
        group -> {
          ByteBuf buffer = Unpooled.buffer();
          group.commands().forEach(command -> command.encode(buffer));
          byte[] bytes = new byte[buffer.readableBytes()];
          buffer.readBytes(bytes);
          groups.add(bytes);
          commits.add(group.commits());
        });
  }

  @Override
  public GameThread gameThread(int thread) throws IOException {
    if (thread > 0) {
      throw new IllegalArgumentException("one socket has one game thread");
    }
    return new Sending();
  }

  private final class Sending extends GroupThread {
    private final Socket socket = new Socket(address.host(), address.port());
    private final OutputStream out =
        new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
    private final InputStream in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);

    Sending() throws IOException {
      super(commits);
      socket.setTcpNoDelay(true);
      logIn(address, out, in);
    }

    @Override
    void send(int group) throws IOException {
      out.write(groups.get(group));
      out.flush();
    }

    @Override
    void awaitAnswer() throws IOException {
      awaitExec(in);
    }

    @Override
    void disconnect() throws IOException {
      socket.close();
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
    ByteArrayOutputStream login = new ByteArrayOutputStream();
    address.login().ifPresent(words -> login.writeBytes(command(words)));
    login.writeBytes(command("SELECT", address.database()));
    out.write(login.toByteArray());
    out.flush();
    for (int i = address.login().isPresent() ? 2 : 1; i > 0; i--) {
      readReply(in);
    }
  }

  private static byte[] command(String... words) {
    StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      int bytes = word.getBytes(StandardCharsets.UTF_8).length;
      command.append('$').append(bytes).append("\r\n").append(word).append("\r\n");
    }
    return command.toString().getBytes(StandardCharsets.UTF_8);
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
}
