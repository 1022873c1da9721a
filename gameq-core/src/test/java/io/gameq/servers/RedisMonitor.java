package io.gameq.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Records what MONITOR shows between its start and {@link #commandsUntil}. One thread. */
public final class RedisMonitor implements AutoCloseable {
  private final Socket socket;
  private final BufferedReader lines;

  /** Starts to record what is sent to the test server. */
  public RedisMonitor() throws IOException {
    URI uri = URI.create(TestServers.adminRedisUri());
    socket = new Socket(uri.getHost(), uri.getPort());
    socket.setSoTimeout((int) Waits.LONG.toMillis());
    lines =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    if (uri.getUserInfo() != null) {
      String login = "AUTH " + uri.getUserInfo().replace(':', ' ') + "\r\n";
      socket.getOutputStream().write(login.getBytes(StandardCharsets.US_ASCII));
      lines.readLine();
    }
    socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
    lines.readLine();
  }

  /**
   * The commands that hold {@code word}, or are MULTI or EXEC, up to the one that holds {@code
   * last}; each as {@code name args}, with 'lua' in front of those of scripts.
   */
  public List<String> commandsUntil(String word, String last) throws IOException {
    List<String> commands = new ArrayList<>();
    while (true) {
      String line = lines.readLine();
      String command =
          (line.contains(" lua] ") ? "lua " : "")
              + line.substring(line.indexOf("] ") + 2).replace("\"", "");
      if (command.contains(last)) {
        return commands;
      }
      if (command.contains(word) || command.equals("MULTI") || command.equals("EXEC")) {
        commands.add(command);
      }
    }
  }

  /**
   * The names of the commands from the next MULTI to its EXEC, of that connection alone: others of
   * the same node may speak meanwhile.
   */
  public List<String> transaction() throws IOException {
    List<String> names = new ArrayList<>();
    String client = "";
    while (!names.contains("EXEC")) {
      String line = lines.readLine();
      int end = line.indexOf("] ");
      String name = line.substring(end + 2).replace("\"", "").split(" ", 2)[0];
      if (client.isEmpty() && name.equals("MULTI")) {
        client = line.substring(line.indexOf('['), end);
      }
      if (!client.isEmpty() && line.contains(client + "] ")) {
        names.add(name);
      }
    }
    return names;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
