package io.gameq.writer.socket;

import io.gameq.terminal.Variables;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A command line for a running writer. Immutable.
 *
 * @param program the jar with its size and time: each release answers for itself
 * @param config the real path of the configuration file
 * @param text of that file
 * @param environment variables that it names, as far as the client has them
 * @param charset of the client's terminal
 * @param columns of the client's terminal; 0: it is none
 * @param args without relative paths
 */
record CommandRequest(
    String program,
    String config,
    String text,
    Map<String, String> environment,
    String charset,
    int columns,
    List<String> args) {
  // What the answer begins with, and what each part of it is.
  static final int ACCEPTED = 1;
  static final int EXIT = 0;
  static final int OUT = 1;
  static final int ERR = 2;

  /** Those that only look and are soon over. */
  private static final Set<String> SERVED =
      Set.of(
          "status",
          "slots",
          "nodes",
          "writers",
          "trace",
          "audit",
          "topics",
          "topics show",
          "topics trace",
          "dead list",
          "dead show",
          "stale list",
          "stale show",
          "term show",
          "protocol",
          "config check");

  /** Options that change something, take long, name files of the client, or ask for help. */
  private static final Set<String> NOT_SERVED =
      Set.of(
          "--forget",
          "--remove-older-than",
          "--watch",
          "--wal",
          "--help",
          "-h",
          "--version",
          "-V",
          "--");

  private static final String CONFIG = "--config";

  /** Null when the command is not one that a writer answers. */
  static @Nullable CommandRequest of(int columns, String... args) throws IOException {
    List<String> words = new ArrayList<>(List.of(args));
    Path config = Path.of("gameq.yaml");
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      if (word.startsWith("@") || NOT_SERVED.contains(word.split("=", 2)[0])) {
        return null;
      }
      if (word.equals(CONFIG) && i + 1 < words.size()) {
        words.remove(i);
        config = Path.of(words.remove(i--));
      } else if (word.startsWith(CONFIG + "=")) {
        config = Path.of(words.remove(i--).substring(CONFIG.length() + 1));
      }
    }
    if (!isServed(words) || words.contains(CONFIG)) {
      return null;
    }
    String real = config.toRealPath().toString();
    words.addAll(List.of(CONFIG, real));
    String text = Files.readString(config);
    Map<String, String> environment = new HashMap<>();
    for (String name : Variables.names(text)) {
      String value = System.getenv(name);
      if (value != null) {
        environment.put(name, value);
      }
    }
    return new CommandRequest(
        ownProgram(), real, text, environment, Charset.defaultCharset().name(), columns, words);
  }

  private static boolean isServed(List<String> words) {
    if (words.isEmpty()) {
      return false;
    }
    String first = words.get(0);
    if (words.size() > 1 && !words.get(1).startsWith("-")) {
      return first.equals("trace") || SERVED.contains(first + " " + words.get(1));
    }
    // A command behind options would be another one.
    return SERVED.contains(first) && (!first.equals("topics") || isOptions(words));
  }

  private static boolean isOptions(List<String> words) {
    return words.stream().skip(1).allMatch(word -> word.startsWith("-"));
  }

  /** What this process runs. */
  static String ownProgram() {
    String path = System.getProperty("java.class.path");
    File jar = new File(path.split(File.pathSeparator, 2)[0]).getAbsoluteFile();
    return jar + " " + jar.length() + " " + jar.lastModified();
  }

  /** Whether a writer that was started as this tells would look at the same servers. */
  boolean fits(String ownProgram, String ownConfig, String ownText) {
    return program.equals(ownProgram)
        && config.equals(ownConfig)
        && text.equals(ownText)
        && isServed(args.subList(0, Math.max(0, args.size() - 2))) // without --config
        && environment.entrySet().stream()
            .allMatch(of -> of.getValue().equals(System.getenv(of.getKey())));
  }

  void write(DataOutputStream out) throws IOException {
    out.writeUTF(program);
    out.writeUTF(config);
    out.writeUTF(text);
    out.writeInt(environment.size());
    for (Map.Entry<String, String> of : environment.entrySet()) {
      out.writeUTF(of.getKey());
      out.writeUTF(of.getValue());
    }
    out.writeUTF(charset);
    out.writeInt(columns);
    out.writeInt(args.size());
    for (String arg : args) {
      out.writeUTF(arg);
    }
    out.flush();
  }

  static CommandRequest read(DataInputStream in) throws IOException {
    String program = in.readUTF();
    String config = in.readUTF();
    String text = in.readUTF();
    Map<String, String> environment = new HashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      environment.put(in.readUTF(), in.readUTF());
    }
    String charset = in.readUTF();
    int columns = in.readInt();
    List<String> args = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      args.add(in.readUTF());
    }
    return new CommandRequest(program, config, text, environment, charset, columns, args);
  }
}
