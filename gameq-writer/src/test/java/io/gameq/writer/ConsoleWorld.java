package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.console.Console;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.service.WriterService;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A game with a node, a writer and its console, as a browser reaches them. Owners, values and
 * errors of it have a script in them, which nobody must run.
 */
final class ConsoleWorld implements AutoCloseable {
  static final String TOKEN = "only-for-tests-0123456789";
  static final String LOOKING = "looking-only-0123456789";
  static final String OF_MAIL = "topics-of-mail-0123456789";
  static final String SCRIPT = "<script>alert(1)</script>";
  static final String GUILD = "guild:" + SCRIPT;

  record Item(long playerId, int slot, int count, String label) {}

  record Note(String guild, String text) {}

  final Game game;
  final GameQueue node;
  final WriterService writer;
  final HttpEndpoint http;
  final ConfigFile file;
  private final Console console;

  ConsoleWorld(Path directory, String httpSettings) throws Exception {
    GameDatabase database =
        GameDatabase.create("console")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, count INT NOT NULL, label"
                    + " VARCHAR(60) NOT NULL, PRIMARY KEY (player_id, slot), CONSTRAINT few CHECK"
                    + " (count < 5000)")
            .table(
                "note",
                "guild",
                "guild",
                "guild VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,"
                    + " text VARCHAR(80) NOT NULL, CONSTRAINT `"
                    + SCRIPT
                    + "` CHECK (CHAR_LENGTH(text) < 30)");
    game = new Game(database, directory);
    file = ConfigFile.write(directory, database.server(), game.namespace, Game.SLOTS);
    Files.writeString(
        file.file(), "writer: { name: w1 }\n" + httpSettings, StandardOpenOption.APPEND);
    WriterConfig config = ConfigReader.read(file.file());
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    writer = game.writer("w1", meters);
    node = game.node("n1");
    console =
        new Console(
            config,
            config.effective(),
            meters,
            new Console.WriterView(
                writer::backlog,
                writer::parkedTables,
                writer::pauses,
                writer::processes,
                writer::problems));
    http =
        HttpEndpoint.open(
            config.http(),
            new HttpEndpoint.EndpointContent(writer::isAlive, writer::problems, meters::scrape),
            console::addTo);
  }

  /** With a token that may act, one that may look, and one for topics of mail alone. */
  static String tokens() {
    return """
    http:
      address: 127.0.0.1
      port: 0
      tokens:
        - { name: ops, token: %s, role: act }
        - { name: viewer, token: %s }
        - { name: postman, token: %s, topics: "mail_*" }
    """
        .formatted(TOKEN, LOOKING, OF_MAIL);
  }

  void commit(int player, int slot, int count, String label) throws Exception {
    OwnerSession session = node.open("player:" + player);
    session.put(new Item(player, slot, count, label));
    session.commit().awaitQueued(LONG);
  }

  void note(String guild, String text) throws Exception {
    OwnerSession session = node.open("guild:" + guild);
    session.put(new Note(guild, text));
    session.commit().awaitQueued(LONG);
  }

  /** Has MySQL refuse rows: of a player's item, and of a guild whose name is a script. */
  void refuse() throws Exception {
    commit(1, 1, 6_000, SCRIPT);
    note(SCRIPT, SCRIPT + " is too long");
    await().atMost(LONG).until(() -> writer.stats().deadLetters() == 2);
  }

  long letter(String table) throws Exception {
    return Long.parseLong(
        game.queryText("SELECT id FROM gameq_dead_letter WHERE table_name = '" + table + "'"));
  }

  RawHttp raw() {
    return new RawHttp(http.port());
  }

  @Override
  public void close() {
    http.close();
    console.close();
    node.close();
    writer.close();
    game.close();
  }
}
