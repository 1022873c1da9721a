package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MySqlServerCheckTest {
  private static final String SESSION = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO";

  @Test
  void passesTheTestServer() {
    MySqlServer server = TestServers.mysql().freshDatabase("server_check");
    try (MySql pool = MySqlPool.open(server.config(1), "test")) {
      MySqlServerCheck check = MySqlServerCheck.of(pool);
      check.requireUsable();
      assertEquals(List.of(), check.refusals());
      assertEquals(check.version().contains("MariaDB"), check.isMariaDb());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "8.0.18, false",
    "8.0.19, true",
    "5.7.44-log, false",
    "9.7.4-2, true",
    "10.5.29-MariaDB, false",
    "5.5.5-10.6.1-MariaDB-log, true",
    "11.4.5-MariaDB, true"
  })
  void knowsTheOldestVersions(String version, boolean usable) {
    assertEquals(usable, MySqlServerCheck.judge(version, SESSION, Map.of()).refusals().isEmpty());
  }

  @Test
  void refusesWhatLosesData() {
    assertRefused(
        "several primaries",
        Map.of(
            "group_replication_single_primary_mode", "OFF",
            "group_replication_group_name", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"));
    assertRefused("ROW", Map.of("log_bin", "ON", "binlog_format", "STATEMENT"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"STRICT_TRANS_TABLES", "NO_AUTO_VALUE_ON_ZERO"})
  void refusesAProxyThatDroppedWhatTheSessionWasSetTo(String dropped) {
    List<String> refusals =
        MySqlServerCheck.judge("9.7.4", SESSION.replace(dropped, ""), Map.of()).refusals();
    assertEquals(1, refusals.size(), refusals.toString());
    assertTrue(refusals.get(0).contains("sql_mode lacks " + dropped), refusals.get(0));
    assertTrue(refusals.get(0).contains("proxy"), refusals.get(0));
  }

  @Test
  void warnsWhenCommitsAreNotOnDisk() {
    MySqlServerCheck check =
        MySqlServerCheck.judge("9.7.4", SESSION, Map.of("innodb_flush_log_at_trx_commit", "2"));
    assertEquals(List.of(), check.refusals());
    assertEquals(1, check.warnings().size());
  }

  @Test
  void warnsWhenALargeRowDoesNotFitIntoAPacket() {
    Map<String, String> small = Map.of("max_allowed_packet", "8388607");
    String warning = MySqlServerCheck.judge("9.7.4", SESSION, small).warnings().get(0);
    assertTrue(warning.contains("max_allowed_packet is 8,388,607 bytes"), warning);
    Map<String, String> enough = Map.of("max_allowed_packet", "8388608");
    assertEquals(List.of(), MySqlServerCheck.judge("9.7.4", SESSION, enough).warnings());
  }

  private static void assertRefused(String word, Map<String, String> variables) {
    List<String> refusals = MySqlServerCheck.judge("9.7.4", SESSION, variables).refusals();
    assertEquals(1, refusals.size(), refusals.toString());
    assertTrue(refusals.get(0).contains(word), refusals.get(0));
  }
}
