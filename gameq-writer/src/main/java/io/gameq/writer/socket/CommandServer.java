package io.gameq.writer.socket;

import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.terminal.TextTable.TerminalWriter;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.zip.CRC32;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers commands of this host in the writer's JVM; thread-safe. Each has two threads: one runs
 * it, the other waits for its client to go away. The socket of a writer that is killed stays, and
 * the next writer with the same configuration removes it.
 */
public final class CommandServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommandServer.class);

  /** At a time; who comes then runs his command himself. */
  private static final int MOST_COMMANDS = 4;

  private final ServerSocketChannel server;
  private final Path socket;
  private final String program = CommandRequest.ownProgram();
  private final String config;
  private final String text;
  private final Runner runner;
  private final Semaphore free = new Semaphore(MOST_COMMANDS);
  private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

  /** Runs a command line. */
  public interface Runner {
    /**
     * Returns the exit code.
     *
     * @param user who called it, as the operating system knows
     */
    int run(String user, PrintWriter out, PrintWriter err, String... args);
  }

  private CommandServer(
      ServerSocketChannel server, Path socket, String config, String text, Runner runner) {
    this.server = server;
    this.socket = socket;
    this.config = config;
    this.text = text;
    this.runner = runner;
  }

  /**
   * Listens. Null where that cannot be: commands do without.
   *
   * @param text of the configuration file, as the writer read it
   */
  public static @Nullable CommandServer open(Path file, String text, Runner runner) {
    try {
      String config = file.toRealPath().toString();
      removeOfKilledWriters(config);
      Path socket = SocketDirectory.socket(config);
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      CommandServer opened = new CommandServer(server, socket, config, text, runner);
      try {
        Files.deleteIfExists(socket);
        server.bind(UnixDomainSocketAddress.of(socket));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
      } catch (IOException e) {
        opened.close();
        throw e;
      }
      DaemonThreads.named("gameq-commands", opened::accept).start();
      return opened;
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      LOG.info("commands on this host are not answered by this writer: {}", e.toString());
      return null;
    }
  }

  private static void removeOfKilledWriters(String config) throws IOException {
    for (Path socket : SocketDirectory.sockets(config)) {
      try (SocketChannel unused = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
        LOG.debug("{} is of a writer that runs", socket);
      } catch (IOException e) {
        Files.deleteIfExists(socket);
      }
    }
  }

  private void accept() {
    while (true) {
      try {
        SocketChannel client = server.accept();
        if (free.tryAcquire()) {
          clients.add(client);
          DaemonThreads.named("gameq-command-client", () -> serve(client)).start();
        } else {
          client.close();
        }
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        LOG.warn("no more commands are answered: {}", e.toString());
        close();
        return;
      }
    }
  }

  private void serve(SocketChannel client) {
    try (client) {
      DataInputStream in =
          new DataInputStream(new BufferedInputStream(Channels.newInputStream(client)));
      CommandRequest request = CommandRequest.read(in);
      if (!request.fits(program, config, text)) {
        return;
      }
      String user = client.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(client)));
      out.write(CommandRequest.ACCEPTED);
      out.flush();
      Thread command = DaemonThreads.named("gameq-command", () -> run(request, user, out, client));
      command.start();
      ByteBuffer nothing = ByteBuffer.allocate(1);
      while (client.read(nothing.clear()) >= 0) {
        // It says nothing more. A stream's read would lock out the writes of the other thread.
      }
      command.interrupt();
      command.join();
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      LOG.debug("a command was not answered", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      clients.remove(client);
      free.release();
    }
  }

  private void run(
      CommandRequest request, String user, DataOutputStream out, SocketChannel client) {
    try (client) {
      Charset charset = Charset.forName(request.charset());
      try (PrintWriter stdout = writer(out, CommandRequest.OUT, charset, request.columns());
          PrintWriter stderr = writer(out, CommandRequest.ERR, charset, request.columns())) {
        int exitCode = runner.run(user, stdout, stderr, request.args().toArray(String[]::new));
        stdout.flush();
        stderr.flush();
        out.write(CommandRequest.EXIT);
        out.writeInt(exitCode);
        out.flush();
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("a command ended early: its client is gone", e);
    }
  }

  /** Each line is sent at once; a client that does not read holds up the command. */
  private static PrintWriter writer(
      DataOutputStream out, int stream, Charset charset, int columns) {
    return new TerminalWriter(
        new OutputStreamWriter(new ClientStream(out, stream), charset), columns);
  }

  @Override
  public void close() {
    try {
      server.close();
      Files.deleteIfExists(socket);
      for (SocketChannel client : clients) {
        client.close();
      }
    } catch (IOException e) {
      LOG.debug("the socket {} stays", socket, e);
    }
  }

  /** One of the client's two streams. Used by one thread. */
  private static final class ClientStream extends OutputStream {
    private final DataOutputStream out;
    private final int stream;

    ClientStream(DataOutputStream out, int stream) {
      this.out = out;
      this.stream = stream;
    }

    @Override
    public void write(int one) {
      write(new byte[] {(byte) one}, 0, 1);
    }

    /** A {@link PrintWriter} would hide that the client is gone, and the command go on. */
    @Override
    public void write(byte[] bytes, int from, int length) {
      try {
        out.write(stream);
        out.writeInt(length);
        out.write(bytes, from, length);
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Where writers listen: directories that nobody but their user, and root, may enter. A socket is
   * named after the configuration and the process. Stateless.
   */
  static final class SocketDirectory {
    private static final String OWNER_ONLY = "rwx------";

    /** What the unit file has systemd make: {@code RuntimeDirectory}. */
    private static final Path OF_SYSTEMD = Path.of("/run/gameq");

    private SocketDirectory() {}

    /** A path for this writer's socket, in a directory that is there. */
    static Path socket(String config) throws IOException {
      String ofSystemd = System.getenv("RUNTIME_DIRECTORY");
      Path directory = ofSystemd == null ? ofUser() : Path.of(ofSystemd);
      if (ofSystemd == null) {
        Files.createDirectories( // of an earlier writer, or of somebody else: see below
            directory,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
      }
      if (!isClosed(directory) || (ofSystemd == null && !isOwn(directory))) {
        throw new IOException(directory + " is not a directory of this user alone");
      }
      return directory.resolve(prefix(config) + ProcessHandle.current().pid() + ".sock");
    }

    /** Sockets of writers with this configuration, also of writers that were killed. */
    static List<Path> sockets(String config) throws IOException {
      List<Path> sockets = new ArrayList<>();
      for (Path directory : List.of(OF_SYSTEMD, ofUser())) {
        if (isClosed(directory) && (isOwn(directory) || (isRoot() && directory == OF_SYSTEMD))) {
          try (DirectoryStream<Path> found =
              Files.newDirectoryStream(directory, prefix(config) + "*.sock")) {
            found.forEach(sockets::add);
          }
        }
      }
      return sockets;
    }

    private static Path ofUser() {
      return Path.of(System.getProperty("java.io.tmpdir"), "gameq-" + user());
    }

    private static String prefix(String config) {
      CRC32 sum = new CRC32(); // paths of sockets are short
      sum.update(config.getBytes(StandardCharsets.UTF_8));
      return Long.toHexString(sum.getValue()) + "-";
    }

    private static String user() {
      return System.getProperty("user.name");
    }

    private static boolean isRoot() {
      return user().equals("root");
    }

    /** Not by way of a link, which anybody may make in a directory for temporary files. */
    private static boolean isOwn(Path directory) throws IOException {
      PosixFileAttributes of = attributes(directory, LinkOption.NOFOLLOW_LINKS);
      return of != null && of.isDirectory() && of.owner().getName().equals(user());
    }

    private static boolean isClosed(Path directory) throws IOException {
      PosixFileAttributes of = attributes(directory);
      return of != null && PosixFilePermissions.toString(of.permissions()).equals(OWNER_ONLY);
    }

    private static @Nullable PosixFileAttributes attributes(Path directory, LinkOption... links)
        throws IOException {
      return Files.exists(directory, links)
          ? Files.readAttributes(directory, PosixFileAttributes.class, links)
          : null;
    }
  }
}
