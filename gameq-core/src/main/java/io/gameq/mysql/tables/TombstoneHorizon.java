package io.gameq.mysql.tables;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.Settings;
import io.gameq.rows.types.TimeTypes;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How far back {@code gameq_tombstone}, {@code gameq_discard} and {@code gameq_handled} reach.
 * Beyond it tombstones may be missing, so that nothing from before may be replayed: it could bring
 * a deleted row back. Stateless.
 */
public final class TombstoneHorizon {
  /**
   * Whose rows count of a message is remembered for so long at least, however short tombstones are:
   * for longer than a WAL whose node is gone brings the message back ({@code
   * MessageReplay.OLDEST}), and no shorter than Redis keeps that WAL's marks ({@code
   * JournalMarks.KEPT}).
   */
  public static final Duration HANDLED_KEPT = Duration.ofDays(7);

  private static final String SETTING = "tombstones_purged_before";

  /** Sorts as text. */
  private static final DateTimeFormatter UTC_MILLIS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** A tombstone outlives the dead letter of its row: retrying that would bring the row back. */
  private static final String PURGEABLE =
      " FROM gameq_tombstone WHERE deleted_at < ? AND NOT EXISTS (SELECT 1 FROM gameq_dead_letter"
          + " letter WHERE letter.table_name = gameq_tombstone.table_name AND letter.row_key ="
          + " gameq_tombstone.row_key)";

  /** A discard may go with the tombstones: nothing from before the horizon is replayed. */
  private static final String DISCARDS = " FROM gameq_discard WHERE discarded_at < ?";

  /** So may what was handled, once nothing brings its message back either. */
  private static final String HANDLED =
      " FROM gameq_handled WHERE handled_at < ? AND handled_at < UTC_TIMESTAMP(3) - INTERVAL "
          + HANDLED_KEPT.toSeconds()
          + " SECOND";

  private TombstoneHorizon() {}

  /**
   * The time before which tombstones may be missing; null as long as none was purged.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static @Nullable Instant read(MySql mysql) {
    String before = Settings.read(mysql, SETTING);
    return before == null ? null : Instant.parse(before);
  }

  /**
   * Moves the horizon to {@code kept} ago by MySQL's clock, where there is a tombstone to purge;
   * never backwards. To be done before {@link #purge}.
   *
   * @return the time before which tombstones are to be purged, null when there are none
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static @Nullable Instant advance(MySql mysql, Duration kept) {
    return mysql.<@Nullable Instant>ask(
        handle -> {
          Connection connection = handle.getConnection();
          Instant before =
              Objects.requireNonNull(
                  Sql.first(
                      connection,
                      "SELECT UTC_TIMESTAMP(3) - INTERVAL " + kept.toSeconds() + " SECOND",
                      rs -> Sql.instant(rs, 1)));
          String text = TimeTypes.sqlText(before);
          boolean any =
              Sql.exists(
                  connection,
                  "SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1%s) OR EXISTS (SELECT 1%s) OR"
                          .formatted(PURGEABLE, DISCARDS)
                      + " EXISTS (SELECT 1%s)".formatted(HANDLED),
                  text,
                  text,
                  text);
          if (!any) {
            return null;
          }
          Sql.execute(
              connection,
              "INSERT INTO gameq_setting (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value"
                  + " = GREATEST(value, VALUES(value))",
              SETTING,
              UTC_MILLIS.format(before));
          return before;
        });
  }

  /**
   * Removes tombstones from before a time that {@link #advance} returned, the oldest first, then
   * discards, then what was handled.
   *
   * @param most rows to remove
   * @return how many were removed: fewer than {@code most} when none is left
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static int purge(MySql mysql, Instant before, int most) {
    return mysql.ask(
        handle -> {
          Connection connection = handle.getConnection();
          int purged = delete(connection, PURGEABLE + " ORDER BY deleted_at", before, most);
          purged += delete(connection, DISCARDS + " ORDER BY discarded_at", before, most - purged);
          return purged
              + delete(connection, HANDLED + " ORDER BY handled_at", before, most - purged);
        });
  }

  private static int delete(Connection connection, String which, Instant before, int most)
      throws SQLException {
    String sql = "DELETE" + which + " LIMIT ?";
    return Sql.execute(connection, sql, TimeTypes.sqlText(before), most);
  }
}
