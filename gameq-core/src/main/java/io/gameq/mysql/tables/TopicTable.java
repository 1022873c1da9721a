package io.gameq.mysql.tables;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.BiFunction;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The topics of the database, in {@code gameq_topic}. Whoever changes one puts it into Redis next,
 * by its revision: {@link io.gameq.redis.topic.DefinedTopic#put}. Thread-safe.
 *
 * <p>All methods throw MySqlException when MySQL does not answer; a change may be made then.
 */
public final class TopicTable {
  private static final String READ = "SELECT topic, revision, state FROM gameq_topic";

  /** Of UTC, so that no hour comes twice. */
  private static final String NOW_MICROS =
      "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

  private final MySql mysql;

  public TopicTable(MySql mysql) {
    this.mysql = mysql;
  }

  /** How many there are. Writers let a token define no more than are watched. */
  public int count() {
    return mysql.list("SELECT COUNT(*) FROM gameq_topic", rs -> rs.getInt(1)).get(0);
  }

  /**
   * Keeps the definition of a topic if there is none yet, else compares.
   *
   * @return the topic as it is kept
   * @throws GameQueueException when it is defined differently, showing both
   */
  public DefinedTopic define(TopicDefinition definition) {
    DefinedTopic there = find(definition.topic());
    if (there == null) {
      insert(definition);
      there = find(definition.topic());
    }
    if (there == null) {
      throw removed(definition.topic());
    }
    definition.requireSameAs(there.definition());
    return there;
  }

  private void insert(TopicDefinition definition) {
    mysql.execute(
        "INSERT IGNORE INTO gameq_topic (topic, revision, state) VALUES (?, (%s), ?)"
            .formatted(NOW_MICROS),
        definition.topic(),
        new DefinedTopic(0, definition, null, null).json());
  }

  /** One topic; null when nobody has defined it. Throws GameQueueException when it is damaged. */
  public @Nullable DefinedTopic find(String topic) {
    return mysql.<@Nullable DefinedTopic>ask(handle -> find(handle, topic, ""));
  }

  private static @Nullable DefinedTopic find(Handle handle, String topic, String locking)
      throws SQLException {
    String sql = READ + " WHERE topic = ?" + locking;
    return Sql.first(handle.getConnection(), sql, TopicTable::topic, topic);
  }

  private static DefinedTopic topic(ResultSet rs) throws SQLException {
    return DefinedTopic.of(rs.getString(1), rs.getLong(2), rs.getString(3));
  }

  /** All topics, by name. Throws GameQueueException when one is damaged. */
  public List<DefinedTopic> all() {
    return mysql.list(READ + " ORDER BY topic", TopicTable::topic);
  }

  /** Pauses a topic; of one that is paused already time, reason and who change. */
  public DefinedTopic pause(String topic, String reason, String who) {
    return change(
        topic, (there, millis) -> there.with(new Pause(millis, who, reason), there.rate()));
  }

  /** Ends the pause of a topic, if there is one. */
  public DefinedTopic resume(String topic) {
    return change(topic, (there, millis) -> there.with(null, there.rate()));
  }

  /** Sets the rate of a topic, or another one. Throws GameQueueException: it is out of range. */
  public DefinedTopic rate(String topic, double perSecond, String reason, String who) {
    Rate.check(perSecond);
    return change(
        topic,
        (there, millis) -> there.with(there.pause(), new Rate(perSecond, millis, who, reason)));
  }

  /**
   * Has a topic be another one from now on.
   *
   * @throws GameQueueException when it is not {@code from} any more
   */
  public DefinedTopic options(TopicDefinition from, TopicDefinition to) {
    return change(
        from.topic(),
        (there, millis) -> {
          if (!there.definition().equals(from)) {
            throw new GameQueueException(
                "somebody else changes topic '%s': it has %s now"
                    .formatted(from.topic(), there.definition().json()));
          }
          return there.with(to);
        });
  }

  /** Ends the rate of a topic, if it has one. */
  public DefinedTopic endRate(String topic) {
    return change(topic, (there, millis) -> there.with(there.pause(), null));
  }

  /** Removes a topic, if it is there; it is removed from Redis next. */
  public void remove(String topic) {
    mysql.execute("DELETE FROM gameq_topic WHERE topic = ?", topic);
  }

  /**
   * Under a lock on the row: revisions rise in the order in which changes are committed.
   *
   * @param change of what there is, with the time by MySQL's clock, ms
   */
  private DefinedTopic change(String topic, BiFunction<DefinedTopic, Long, DefinedTopic> change) {
    return mysql.inTransaction(
        handle -> {
          DefinedTopic there = find(handle, topic, " FOR UPDATE");
          if (there == null) {
            throw removed(topic);
          }
          long nowMicros = handle.select(NOW_MICROS).mapTo(Long.class).one();
          DefinedTopic to =
              change
                  .apply(there, nowMicros / 1_000)
                  .ofRevision(Math.max(there.revision() + 1, nowMicros));
          handle.execute(
              "UPDATE gameq_topic SET revision = ?, state = ? WHERE topic = ?",
              to.revision(),
              to.json(),
              topic);
          return to;
        });
  }

  private static GameQueueException removed(String topic) {
    return new GameQueueException(
        "somebody removed topic '" + topic + "' from gameq_topic: open it again");
  }
}
