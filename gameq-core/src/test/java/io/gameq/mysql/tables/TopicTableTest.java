package io.gameq.mysql.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicTableTest {
  private static final TopicDefinition SIXTEEN =
      new TopicDefinition("building", 16, 0, 65_536, 16, 30_000, 0, "1s 2s", false);

  private GameDatabase database;
  private MySql mysql;
  private TopicTable topics;

  @BeforeEach
  void create() throws SQLException {
    database = GameDatabase.create("topics");
    mysql = MySqlPool.openForLogins(database.as(Role.NODE).config(4), Duration.ofSeconds(20));
    topics = new TopicTable(mysql);
  }

  @AfterEach
  void close() {
    mysql.close();
  }

  @Test
  void theFirstDefinitionCountsAndADifferentOneIsAnErrorThatNamesTheCommand() {
    DefinedTopic first = topics.define(SIXTEEN);
    assertEquals(first, topics.define(SIXTEEN));
    TopicDefinition eight =
        new TopicDefinition("building", 8, 0, 65_536, 16, 30_000, 0, "1s 2s", false);
    String error = assertThrows(GameQueueException.class, () -> topics.define(eight)).getMessage();
    assertTrue(error.contains("in MySQL: there -> here: slots 16 -> 8. Use the same"), error);
    assertTrue(error.endsWith("gameq-writer topics options building --set 'slots=8'"), error);
    assertEquals(List.of(first), topics.all());
    assertNull(topics.find("mail"));
  }

  @Test
  void otherOptionsArePutInPlaceOfThoseThatWereSeen() {
    TopicDefinition from = topics.define(SIXTEEN).definition();
    topics.pause("building", "why", "ann");
    TopicDefinition to = from.with(Map.of("leaseMillis", "60000", "backoff", "1000ms 2s"), 16);
    assertEquals(new TopicDefinition("building", 16, 0, 65_536, 16, 60_000, 0, "1s 2s", false), to);
    DefinedTopic changed = topics.options(from, to);
    assertEquals(to, changed.definition());
    assertEquals("why", Objects.requireNonNull(changed.pause()).reason());
    assertTrue(changed.revision() > 0);
    assertEquals(changed, topics.define(to));
    assertThrows(GameQueueException.class, () -> topics.options(from, to), "it is another by now");
    for (Map<String, String> wrong :
        List.of(
            Map.of("lease", "1"),
            Map.of("leaseMillis", "1"),
            Map.of("leaseMillis", "a minute"),
            Map.of("slots", "3"),
            Map.of("slots", "32"),
            Map.of("backoff", "soon"))) {
      assertThrows(GameQueueException.class, () -> from.with(wrong, 16), wrong::toString);
    }
  }

  @Test
  void aTopicIsPausedAndLimitedWithReasonsUntilThatIsEnded() {
    DefinedTopic running = topics.define(SIXTEEN);
    assertNull(running.pause());
    assertEquals(0, running.perSecond());
    topics.pause("building", "the server\tis away: ü", "ann");
    DefinedTopic both = topics.rate("building", 0.5, "slow", "ben");
    assertEquals(both, topics.find("building"));
    DefinedTopic.Pause pause = Objects.requireNonNull(both.pause());
    assertEquals("ann: the server\tis away: ü", pause.who() + ": " + pause.reason());
    assertTrue(Math.abs(pause.sinceMillis() - System.currentTimeMillis()) < 600_000);
    assertEquals(0.5, both.perSecond());
    assertNull(topics.resume("building").pause());
    DefinedTopic ended = topics.endRate("building");
    assertEquals(SIXTEEN, ended.definition());
    assertNull(ended.rate());
    assertThrows(GameQueueException.class, () -> topics.rate("building", 0, "x", "ann"));
    assertThrows(GameQueueException.class, () -> topics.pause("mail", "nobody defined it", "ann"));
  }

  @Test
  void eachChangeOfManyAtATimeHasARevisionOfItsOwnAndNoneIsLost() throws SQLException {
    topics.define(SIXTEEN);
    database.server().execute("UPDATE gameq_topic SET revision = 9000000000000000");
    List<DefinedTopic> all =
        IntStream.range(0, 40)
            .parallel()
            .mapToObj(
                i ->
                    i % 2 == 0
                        ? topics.pause("building", "p" + i, "ann")
                        : topics.rate("building", i, "r" + i, "ann"))
            .toList();
    TreeSet<Long> revisions = new TreeSet<>(all.stream().map(DefinedTopic::revision).toList());
    assertEquals(40, revisions.size());
    assertEquals(9_000_000_000_000_040L, revisions.last(), "also by a clock that was ahead");
    DefinedTopic last = Objects.requireNonNull(topics.find("building"));
    assertEquals(revisions.last(), last.revision());
    assertTrue(last.pause() != null && last.rate() != null, last.json());
  }
}
