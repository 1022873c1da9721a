package io.gameq.writer.stale;

import io.gameq.GameQueueException;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.writer.letters.LetterDetail;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.stale.StaleCommand.StaleNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Sessions with stale rows, as an operator sees and discards them by command line or console.
 * Stateless.
 */
public final class StaleSessions {
  private StaleSessions() {}

  /**
   * A row, beside the one that MySQL holds.
   *
   * @param op put, delete or moved; empty when it cannot be decoded
   * @param undecodable why it cannot be decoded, or null
   */
  public record ShownRow(
      String key,
      long version,
      String op,
      List<ColumnDetail> columns,
      @Nullable String undecodable) {}

  /**
   * Hands over the rows of a session page by page, as {@link StaleRows#rows} does, each page in the
   * order in which they were committed.
   *
   * @param withValues whether to show their values; who asks for them audits it before
   * @throws io.gameq.GameQueueException when Redis or MySQL is away
   */
  public static void rows(
      StaleRows stale,
      RowReading reading,
      StaleRows.Session session,
      boolean withValues,
      Predicate<List<ShownRow>> page) {
    stale.rows(
        session,
        rows ->
            page.test(
                rows.stream()
                    .sorted(Comparator.comparing(StaleNames::version))
                    .map(row -> shown(row, session.owner(), reading, withValues))
                    .toList()));
  }

  private static ShownRow shown(
      EncodedRow row, OwnerId owner, RowReading rows, boolean withValues) {
    long version = StaleNames.version(row);
    Reading reading = rows.read(row.key(), row.image());
    if (reading instanceof Decoded decoded) {
      return new ShownRow(
          row.key(),
          version,
          decoded.image().op().name().toLowerCase(Locale.ROOT),
          LetterDetail.columns(
              decoded.image(), rows.present(owner, decoded.key()).row(), withValues),
          null);
    }
    return new ShownRow(
        row.key(),
        version,
        "",
        List.of(),
        String.format(
            Locale.ROOT,
            "its %,d bytes cannot be decoded: %s",
            row.image().length,
            ((Undecodable) reading).reason()));
  }

  /**
   * Removes the rows of a session from Redis for good, unless it owns after all, once MySQL
   * remembers that: else a replay of its WAL would put them back. Stopped between the two it is to
   * be run again. Who asks for it audits it before.
   *
   * @throws io.gameq.GameQueueException when Redis or MySQL is away
   */
  public static StaleRows.Outcome discard(
      StaleRows stale, Discards discards, StaleRows.Session session) {
    List<VersionedKey> rows = new ArrayList<>();
    if (!stale.ownsNow(session)) {
      stale.rows(
          session,
          page -> {
            rows.addAll(versions(page));
            return true;
          });
    }
    List<Discard> seen = discards(session, rows);
    discards.remember(seen);
    StaleRows.Outcome outcome = stale.discard(session);
    if (outcome instanceof StaleRows.Discarded discarded) {
      discards.remember(discards(session, discarded.rows())); // with what was committed meanwhile
    } else if (outcome instanceof StaleRows.OwnsNow) {
      discards.forget(seen);
    }
    return outcome;
  }

  private static List<VersionedKey> versions(List<EncodedRow> rows) {
    List<VersionedKey> versions = new ArrayList<>();
    for (EncodedRow row : rows) {
      try {
        versions.add(new VersionedKey(row.key(), row.version()));
      } catch (GameQueueException e) {
        // damaged: no WAL has it
      }
    }
    return versions;
  }

  /** Of this session only: the one that owns may have changed the same rows in older versions. */
  private static List<Discard> discards(StaleRows.Session session, List<VersionedKey> rows) {
    List<Discard> discards = new ArrayList<>();
    for (VersionedKey row : rows) {
      int colon = row.key().indexOf(':');
      if (colon > 0) { // else damaged, and no row's key
        discards.add(
            new Discard(
                session.owner(),
                RowKey.tableName(row.key()),
                row.key().substring(colon + 1),
                session.session().text(),
                row.version()));
      }
    }
    return discards;
  }
}
