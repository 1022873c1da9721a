package io.gameq.lab.peers;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Under what conditions figures were measured: without them a figure says nothing. Holds no
 * addresses and no secrets. Immutable.
 */
record Setting(
    String date,
    @Nullable String note,
    String servers,
    Map<String, String> machine,
    Map<String, String> mysql,
    Map<String, String> redis,
    List<String> jvmFlags,
    io.gameq.lab.bench.workload.Workload.Shape workload,
    Job.Settings settings,
    int inFlight) {

  private static final List<String> MYSQL_VARIABLES =
      List.of(
          "version",
          "version_comment",
          "innodb_flush_log_at_trx_commit",
          "sync_binlog",
          "log_bin",
          "innodb_buffer_pool_size",
          "innodb_flush_method",
          "innodb_doublewrite",
          "datadir");

  private static final List<String> REDIS_SETTINGS =
      List.of("appendonly", "appendfsync", "save", "maxmemory", "io-threads");

  private static final Pattern REDIS_VERSION = Pattern.compile("redis_version:(\\S+)");

  static Setting read(
      String servers, Comparison comparison, Job gameq, List<String> flags, @Nullable String note)
      throws SQLException {
    return new Setting(
        Instant.now().toString(),
        note,
        servers,
        thisMachine(),
        mysqlOf(comparison),
        redisOf(comparison),
        flags,
        gameq.shape(),
        gameq.settings(),
        gameq.inFlight());
  }

  private static Map<String, String> thisMachine() {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    machine.put("memoryBytes", Long.toString(system.getTotalMemorySize()));
    machine.put("loadAverage", Double.toString(system.getSystemLoadAverage()));
    for (String property :
        List.of("os.name", "os.version", "os.arch", "java.vm.name", "java.vm.version")) {
      machine.put(property, System.getProperty(property, ""));
    }
    machine.put("walFileSystem", fileSystem(Path.of(System.getProperty("java.io.tmpdir", "/tmp"))));
    return machine;
  }

  private static String fileSystem(Path path) {
    try {
      return Files.getFileStore(path).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static Map<String, String> mysqlOf(Comparison comparison) throws SQLException {
    Map<String, String> mysql = comparison.tables().variables(MYSQL_VARIABLES);
    mysql.put("cipherOfConnections", comparison.tables().cipher());
    String directory = mysql.remove("datadir");
    if (directory != null && Files.exists(Path.of(directory, "ibdata1"))) { // on this machine
      mysql.put("dataFileSystem", fileSystem(Path.of(directory)));
    }
    return mysql;
  }

  private static Map<String, String> redisOf(Comparison comparison) {
    Map<String, String> redis = new LinkedHashMap<>();
    Matcher version = REDIS_VERSION.matcher(comparison.redis().info("server"));
    redis.put("version", version.find() ? version.group(1) : "unknown");
    REDIS_SETTINGS.forEach(name -> redis.putAll(comparison.redis().configGet(name)));
    return redis;
  }
}
