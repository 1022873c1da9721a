package io.gameq.writer.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.redis.script.ClaimScript.Bounds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigReaderTest {
  private static final Map<String, String> ENVIRONMENT = Map.of("GAME_DB_PASSWORD", "s3cret$1");
  private static final String SMALLEST =
      """
      namespace: mygame
      redis: { uri: "redis://127.0.0.1" }
      mysql: { url: "jdbc:mysql://127.0.0.1/game", user: game }
      """;

  @TempDir private Path directory = Path.of(".");

  @Test
  void theExampleFileHoldsTheDefaults() throws IOException {
    WriterConfig example = ConfigReader.read(Path.of("gameq.example.yaml"), ENVIRONMENT::get);
    assertEquals(new TableSpec("player_item", "player", "player_id"), example.tables().get(1));
    assertEquals("s3cret$1", example.mysql().password().read());
    WriterConfig smallest = read(SMALLEST);
    assertEquals(smallest.slots(), example.slots());
    assertEquals(smallest.mysql().poolSize(), example.mysql().poolSize());
    assertEquals(smallest.writer(), example.writer());
    assertEquals(smallest.http().address(), example.http().address());
    assertEquals(smallest.http().port(), example.http().port());
    assertEquals(smallest.log(), example.log());
    assertNull(smallest.redis().login().password());
    assertThrows(GameQueueException.class, smallest::requiredTables);
  }

  @Test
  void theExampleFileNamesEachSetting() throws IOException {
    String example = Files.readString(Path.of("gameq.example.yaml"));
    List<String> missing =
        DeclaredSetting.ALL.keySet().stream()
            .filter(name -> !example.contains(name.substring(name.lastIndexOf('.') + 1) + ":"))
            .toList();
    assertEquals(List.of(), missing);
  }

  @Test
  void defaultsAreThoseOfTheCode() throws IOException {
    WriterConfig smallest = read(SMALLEST);
    assertEquals(GameQueueConfig.DEFAULT_SLOTS, smallest.slots());
    assertEquals(Bounds.DEFAULT.owners(), smallest.writer().batchOwners());
    assertEquals(Bounds.DEFAULT.rows(), smallest.writer().batchRows());
    assertEquals(WriterConfig.LogSettings.DEFAULT, smallest.log());
  }

  @Test
  void neverShowsAPassword() throws IOException {
    WriterConfig config =
        read(
            """
            namespace: mygame
            redis: { uri: "redis://user:hidden1@127.0.0.1:6379", password: hidden2 }
            mysql: { url: "jdbc:mysql://127.0.0.1/game", user: game, password: hidden5 }
            """);
    assertFalse(config.toString().contains("hidden"), config.toString());
  }

  @Test
  void readsAPasswordFileWithoutItsLineEnd() throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "from file\n");
    WriterConfig config =
        read(SMALLEST.replace("user: game", "user: game, passwordFile: " + secret));
    assertEquals("from file", config.mysql().password().read());
    Files.writeString(secret, "changed");
    assertEquals("changed", config.mysql().password().read());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "namespace: mygame|namespace: My Game|'namespace' is 'My Game'",
        "namespace: mygame|slots: 16|'namespace' is missing",
        "namespace: mygame|{namespace: g, slots: 12}|power of two",
        "user: game|user: game, poolsize: 4|'mysql.poolsize' is not a setting (did you mean"
            + " poolSize?)",
        "namespace: mygame|namespce: mygame|'namespce' is not a setting (did you mean namespace?)",
        "namespace: mygame|{namespace: g, colour: red}|'colour' is not a setting (known: http,",
        "user: game|user: game, poolSize: many|'mysql.poolSize' is 'many': use a whole number from"
            + " 1 to 200",
        "user: game|user: game, poolSize: 3|'mysql.poolSize' is 3, fewer than writer.workers, which"
            + " is 4",
        "user: game|user: '${NOT_SET}'|'mysql.user' names the environment variable NOT_SET, which"
            + " is not set",
        "namespace: mygame|{namespace: g, log: {format: xml}}|'log.format' is 'xml': use text or"
            + " keyvalue or json",
        "redis://127.0.0.1|http://127.0.0.1|'redis.uri' must begin with redis://",
        "redis://127.0.0.1|redis-sentinel://h1:26379/0|must end with #name",
        "jdbc:mysql:|jdbc:mariadb:|mysql.url must begin with jdbc:mysql://",
        "namespace: mygame|{namespace: g, tables: [{name: t, owner: p}]}|'tables[1].ownerColumn' is"
            + " missing",
        "namespace: mygame|{namespace: g, tables: {name: t}}|'tables' must be a list",
        "namespace: mygame|{namespace: g, http: {door: open, token: 0123456789abcdef}}|"
            + "there is no section 'node'",
        "namespace: mygame|{namespace: g, http: {door: open}, node: {name: n, walDirectory: w,"
            + " mysql: {user: u}}}|there is no token",
        "namespace: mygame|{namespace: g, node: {name: a/b, walDirectory: w, mysql: {user: u}}}|"
            + "'node.name' is 'a/b'",
        "namespace: mygame|{namespace: g, node: {name: n, mysql: {user: u}}}|'node.walDirectory' is"
            + " missing",
        "namespace: mygame|{namespace: g, node: {name: n, walDirectory: w, mysql: {user: u},"
            + " plugins: /nowhere}}|'node.plugins' is '/nowhere': use a directory",
        "namespace: mygame|{namespace: g, http: {tokens: [{name: a, token: 0123456789abcdef,"
            + " topics: 'Mail'}]}}|'http.tokens[1].topics' is 'Mail'",
        "namespace: mygame|{namespace: g, namespace: h}|is no YAML at line "
      })
  void namesTheSettingAndTheRemedy(String text, String replacement, String message)
      throws IOException {
    String yaml = SMALLEST.replace(text, replacement);
    if (replacement.startsWith("{")) {
      // A flow map with all the rest, so that a replacement can add settings.
      yaml =
          replacement.substring(0, replacement.length() - 1)
              + ", redis: {uri: 'redis://h'}, mysql: {url: 'jdbc:mysql://h/g', user: u}}";
    }
    String all = yaml;
    GameQueueException error = assertThrows(GameQueueException.class, () -> read(all));
    assertTrue(String.valueOf(error.getMessage()).contains(message), error.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mysql: {password: \"hidden}",
        "mysql: {password: hidden: hidden}",
        "mysql: {password: @hidden}",
        "mysql: {password: x}\nmysql: {password: hidden}",
        "mysql: {url: 'jdbc:mysql://h/g', user: u, poolSize: '${SECRET}'}",
        "mysql: {url: 'jdbc:mysql://h/g', user: u, passwordFile: '${SECRET}'}",
        "mysql: {url: 'jdbc:mysql://h/g', user: u, tls: {caFile: '${SECRET}'}}",
        "mysql: {url: '${SECRET}', user: u}",
        "log: {level: '${SECRET}'}",
        "http: {tokenFile: '${SECRET}'}",
        "http: {tokens: [{name: '${SECRET}', token: 0123456789abcdef}]}",
        "http: {tokens: [{name: a, token: 0123456789abcdef, topics: '${SECRET}'}]}",
        "http: {tls: {certFile: '${SECRET}', keyFile: '${SECRET}'}}",
        "http: {port: '${SECRET}'}",
        "node: {name: '${SECRET}', walDirectory: w, mysql: {user: u}}",
        "node: {name: n, walDirectory: w, mysql: {user: u}, plugins: '${SECRET}'}",
        "writer: {name: '${SECRET}'}",
        "slots: '${SECRET}'",
        "tables: [{name: '${SECRET}', owner: p, ownerColumn: c},"
            + " {name: '${SECRET}', owner: p, ownerColumn: c}]"
      })
  void noErrorShowsASecretThatStandsInTheWrongPlace(String wrong) throws IOException {
    String name = wrong.substring(0, wrong.indexOf(':'));
    String yaml =
        Map.of(
                "namespace", "namespace: g",
                "redis", "redis: {uri: 'redis://h'}",
                "mysql", "mysql: {url: 'jdbc:mysql://h/g', user: u}")
            .entrySet()
            .stream()
            .filter(section -> !section.getKey().equals(name))
            .map(Map.Entry::getValue)
            .collect(Collectors.joining("\n", "", "\n" + wrong));
    Path file = Files.writeString(directory.resolve("gameq.yaml"), yaml);
    GameQueueException error =
        assertThrows(
            GameQueueException.class,
            () -> ConfigReader.read(file, variable -> "hidden /*:"),
            yaml);
    for (Throwable e = error; e != null; e = e.getCause()) {
      assertFalse(String.valueOf(e).contains("hidden"), e::toString);
    }
  }

  @Test
  void eachSettingIsKnownWithItsOriginAndWithoutSecrets() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("gameq.yaml"),
            """
            namespace: mygame
            redis: { uri: "redis://user:hidden1@h:6379/0", password: hidden2 }
            mysql: { url: "jdbc:mysql://h/game?useSSL=true", user: game, \
            password: "${GAME_DB_PASSWORD}" }
            writer: { workers: 2 }
            """);
    Map<String, String> seen = new TreeMap<>();
    ConfigReader.read(file, ENVIRONMENT::get)
        .effective()
        .forEach(of -> seen.put(of.name(), of.value() + " by " + of.origin()));
    assertEquals("256 by default", seen.get("slots"));
    assertEquals("2 by file", seen.get("writer.workers"));
    assertEquals("redis://***@h:6379/0 by file", seen.get("redis.uri"));
    assertEquals("*** by file", seen.get("redis.password"));
    assertEquals("null by default", seen.get("redis.passwordFile"));
    assertEquals("*** by environment variable GAME_DB_PASSWORD", seen.get("mysql.password"));
    assertEquals("7420 by default", seen.get("http.port"));
    assertEquals("jdbc:mysql://h/game?useSSL=true by file", seen.get("mysql.url"));
    assertFalse(seen.toString().contains("hidden"), seen.toString());
    assertFalse(seen.toString().contains("s3cret"), seen.toString());
  }

  private WriterConfig read(String yaml) throws IOException {
    return ConfigReader.read(
        Files.writeString(directory.resolve("gameq.yaml"), yaml), ENVIRONMENT::get);
  }
}
