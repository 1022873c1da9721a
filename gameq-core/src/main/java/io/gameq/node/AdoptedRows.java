package io.gameq.node;

import io.gameq.durability.QueuedRow;
import io.gameq.redis.script.OpenScript;
import io.gameq.rows.EncodedRow;
import io.gameq.view.OwnerViews;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The unflushed rows that an open adopted, and the WAL records that have them. Immutable.
 *
 * @param dirty rows that are now under the session
 * @param claimed rows that a writer is flushing
 * @param sequences the WAL record of each row, those of {@code dirty} first; empty before they were
 *     appended
 * @param sent rows that were sent to the owner: seen, and not adopted
 */
public record AdoptedRows(
    List<EncodedRow> dirty, List<EncodedRow> claimed, List<Long> sequences, List<EncodedRow> sent) {
  public AdoptedRows(List<EncodedRow> dirty, List<EncodedRow> claimed, List<Long> sequences) {
    this(dirty, claimed, sequences, List.of());
  }

  /** What the script returned, without rows that are damaged: writers set those aside. */
  static AdoptedRows of(OpenScript.Opened script) {
    return new AdoptedRows(
        OwnerViews.withoutDamaged(script.dirty()),
        OwnerViews.withoutDamaged(script.claimed()),
        List.of(),
        OwnerViews.withoutDamaged(script.sent()));
  }

  /** As a view takes them. */
  OwnerViews.InRedis seen() {
    return new OwnerViews.InRedis(all(), sent);
  }

  /** Those that are adopted, in the order of the sequences. */
  public List<EncodedRow> all() {
    List<EncodedRow> all = new ArrayList<>(dirty);
    all.addAll(claimed);
    return all;
  }

  /** These rows are dirty now, in place of what was in older versions. */
  AdoptedRows plusDirty(List<EncodedRow> rows) {
    Map<String, EncodedRow> byKey = new HashMap<>();
    dirty.forEach(row -> byKey.put(row.key(), row));
    rows.forEach(row -> byKey.put(row.key(), row));
    return new AdoptedRows(List.copyOf(byKey.values()), claimed, List.of(), sent);
  }

  /** Those that {@code there} has not, or in older versions. */
  List<EncodedRow> missingFrom(AdoptedRows there) {
    Map<String, EncodedRow> held = new HashMap<>();
    there.all().forEach(row -> held.merge(row.key(), row, AdoptedRows::newer));
    List<EncodedRow> missing = new ArrayList<>();
    for (EncodedRow row : all()) {
      if (held.merge(row.key(), row, AdoptedRows::newer).equals(row)) {
        missing.add(row);
      }
    }
    return missing;
  }

  /** The first when both are of one version. */
  private static EncodedRow newer(EncodedRow one, EncodedRow other) {
    return other.version() > one.version() ? other : one;
  }

  AdoptedRows inWal(List<Long> records) {
    return new AdoptedRows(dirty, claimed, records, sent);
  }

  /** As a session waits for them to be in MySQL. */
  public Map<String, QueuedRow> heldDirty() {
    return held(dirty, 0);
  }

  /** The same of what a writer is flushing. */
  public Map<String, QueuedRow> heldClaimed() {
    return held(claimed, dirty.size());
  }

  private Map<String, QueuedRow> held(List<EncodedRow> rows, int from) {
    Map<String, QueuedRow> held = new HashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      EncodedRow row = rows.get(i);
      held.put(
          row.key(),
          new QueuedRow(
              row.version(),
              sequences.get(from + i),
              row.key().length() + row.image().length,
              true));
    }
    return held;
  }

  /** The newest version of each row. */
  Map<String, Long> versions() {
    Map<String, Long> versions = new HashMap<>();
    all().forEach(row -> versions.merge(row.key(), row.version(), Math::max));
    return versions;
  }

  /** Keys, versions and records. */
  @Override
  public String toString() {
    return "dirty " + named(dirty) + " claimed " + named(claimed) + " in WAL " + sequences;
  }

  private static List<String> named(List<EncodedRow> rows) {
    return rows.stream().map(row -> row.key() + "@" + row.version()).toList();
  }
}
