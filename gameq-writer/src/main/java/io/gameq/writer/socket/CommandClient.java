package io.gameq.writer.socket;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.socket.CommandServer.SocketDirectory;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Asks a running writer for the answer of a command. Loads few classes. Used by one thread. */
public final class CommandClient {
  /** The command is to run in this JVM. */
  public static final int NOT_SERVED = -1;

  /** A writer that takes longer is busy, or stands still. */
  private static final long PATIENCE_MILLIS = 300;

  private CommandClient() {}

  /**
   * The exit code of a writer that has printed the answer, or {@link #NOT_SERVED}.
   *
   * @param columns of the terminal, 0 for none
   */
  public static int run(PrintStream out, PrintStream err, int columns, String... args) {
    try {
      CommandRequest request = CommandRequest.of(columns, args);
      if (request != null) {
        for (Path socket : SocketDirectory.sockets(request.config())) {
          int exitCode = ask(request, socket, out, err);
          if (exitCode != NOT_SERVED) {
            return exitCode;
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      // The command itself says what is wrong with its arguments or its file.
    }
    return NOT_SERVED;
  }

  /** Without a thread of its own: what logs its end would load the logger. */
  private static int ask(CommandRequest request, Path socket, PrintStream out, PrintStream err) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.configureBlocking(false);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      request.write(new DataOutputStream(bytes));
      ByteBuffer asked = ByteBuffer.wrap(bytes.toByteArray());
      ByteBuffer answer = ByteBuffer.allocate(1);
      if (!channel.connect(UnixDomainSocketAddress.of(socket))
          || channel.write(asked) < asked.limit()
          || !isReadable(channel)
          || channel.read(answer) < 1
          || answer.get(0) != CommandRequest.ACCEPTED) {
        return NOT_SERVED;
      }
      channel.configureBlocking(true);
      return copy(
          new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel))), out, err);
    } catch (IOException e) {
      return NOT_SERVED; // nobody listens
    }
  }

  private static boolean isReadable(SocketChannel channel) throws IOException {
    try (Selector selector = Selector.open()) {
      channel.register(selector, SelectionKey.OP_READ);
      return selector.select(PATIENCE_MILLIS) > 0;
    }
  }

  /** From here on the answer counts. */
  private static int copy(DataInputStream in, PrintStream out, PrintStream err) {
    try {
      while (true) {
        int stream = in.read();
        if (stream < 0) {
          throw new EOFException();
        }
        if (stream == CommandRequest.EXIT) {
          return in.readInt();
        }
        byte[] bytes = in.readNBytes(in.readInt());
        PrintStream to = stream == CommandRequest.OUT ? out : err;
        to.write(bytes, 0, bytes.length);
        to.flush();
      }
    } catch (IOException e) {
      err.println("gameq-writer: the writer that answered this command ended: run it again");
      return ExitCodes.COULD_NOT_RUN;
    }
  }
}
