package io.gameq.view;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.topic.DeadLetter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What an owner has, merged from Redis and MySQL: of each row the newest version wins, and deletes
 * and moves hide rows. As a sink it takes what MySQL holds. Not thread-safe while rows are added.
 */
public final class OwnerView implements OwnerReader.Sink {
  private final OwnerId owner;
  private final List<RowImage> inRedis;
  private final long highestInRedis;
  private final MissingTables missing;
  private final Map<RowKey, RowImage> newest = new LinkedHashMap<>();
  private final Map<RowKey, RowImage> unflushed = new HashMap<>();
  private final List<DeadLetterTable.Stored> refused = new ArrayList<>();
  private final List<DeadLetter> deadLetters = new ArrayList<>();
  private long highestVersion;

  /**
   * Has what Redis holds.
   *
   * @param highestInRedis a version there that none of these rows may carry; 0 for none
   * @param missing tables of the game's that have gone since the node started
   */
  public OwnerView(
      OwnerId owner, List<RowImage> inRedis, long highestInRedis, Collection<String> missing) {
    this.owner = owner;
    this.inRedis = inRedis;
    this.highestInRedis = highestInRedis;
    this.missing = new MissingTables(owner, Set.copyOf(missing));
    begin();
  }

  @Override
  public void begin() {
    newest.clear();
    unflushed.clear();
    refused.clear();
    highestVersion = highestInRedis;
    for (RowImage image : inRedis) {
      add(image);
      unflushed.put(image.rowKey(), newest.getOrDefault(image.rowKey(), image));
    }
  }

  /** Of equal versions the first stays. What the newest does not name an older one tells. */
  private void add(RowImage image) {
    tombstoneVersion(image.version());
    newest.merge(
        image.rowKey(),
        image,
        (there, other) ->
            other.version() > there.version() ? other.over(there) : there.over(other));
  }

  /**
   * Takes a row in that MySQL holds. It stays the other owner's when it is one, whatever this owner
   * put under its key, unless the row was handed over: MySQL is going to refuse that.
   */
  @Override
  public void row(RowImage stored) {
    RowImage there = newest.get(stored.rowKey());
    boolean isForeign =
        there != null
            && there.op() == RowOp.PUT
            && there.handovers().isEmpty()
            && !stored.table().isKeyedByOwner()
            && !stored.table().isOwnedBy(owner, stored.values());
    if (isForeign) {
      tombstoneVersion(stored.version());
      newest.put(stored.rowKey(), stored);
    } else {
      add(stored);
    }
  }

  /** Hides the row up to its version. */
  @Override
  public void tombstone(RowKey key, long version) {
    tombstoneVersion(version);
    newest.computeIfPresent(key, (k, image) -> image.version() <= version ? null : image);
  }

  /** What Redis holds of the row up to this version is given up. */
  @Override
  public void discard(RowKey key, long version) {
    tombstone(key, version);
    unflushed.computeIfPresent(key, (k, image) -> image.version() <= version ? null : image);
  }

  @Override
  public void deadLetter(DeadLetterTable.Stored letter) {
    refused.add(letter);
  }

  /** A version of this owner that no row may carry any more. */
  @Override
  public void tombstoneVersion(long version) {
    highestVersion = Math.max(highestVersion, version);
  }

  /** Rows that MySQL refused, some of which may have been replaced since. */
  List<DeadLetterTable.Stored> refused() {
    return refused;
  }

  /**
   * A row that MySQL refused, unless Redis has a newer version.
   *
   * @param image null when it cannot be read
   * @param row the same as the game knows it; null also of a delete
   */
  public void addDeadLetter(
      DeadLetterTable.Stored letter, @Nullable RowImage image, @Nullable Row row) {
    DeadLetterTable.Refused of = letter.refused();
    if (image != null) { // else the version may be damaged too
      tombstoneVersion(of.version());
      RowImage there = newest.get(image.rowKey());
      if (there != null && there.version() > of.version()) {
        return;
      }
    }
    deadLetters.add(
        new DeadLetter(
            of.table(),
            letter.key(),
            of.version(),
            image != null && image.op() == RowOp.DELETE,
            row,
            of.errorCode(),
            of.errorText(),
            of.attempts(),
            letter.refusedAt()));
  }

  // --- what is asked

  /** What Redis holds of each row, newest, as one image. */
  public Collection<RowImage> unflushed() {
    return unflushed.values();
  }

  /** The newest of each row, whoever owns it. */
  Collection<RowImage> newest() {
    return newest.values();
  }

  /** The tables whose rows cannot be told. */
  public MissingTables missing() {
    return missing;
  }

  public List<DeadLetter> deadLetters() {
    return List.copyOf(deadLetters);
  }

  public long highestVersion() {
    return highestVersion;
  }

  /**
   * The owner's rows of one table, in the order in which they were found.
   *
   * @throws GameQueueException when the table had gone
   */
  public List<RowImage> rows(Table table) {
    missing.requireKnown(table, GameQueueException::new);
    return newest.values().stream()
        .filter(image -> image.table().name().equals(table.name()) && isOwn(image))
        .toList();
  }

  /**
   * The owner's row of this key; null when it has none.
   *
   * @throws GameQueueException when the table had gone
   */
  public @Nullable RowImage row(Table table, RowKey key) {
    missing.requireKnown(table, GameQueueException::new);
    return rowIfKnown(table, key);
  }

  /** The same; null also when the table had gone. */
  public @Nullable RowImage rowIfKnown(Table table, RowKey key) {
    RowImage image = missing.names.contains(table.name()) ? null : newest.get(key);
    return image != null && isOwn(image) ? image : null;
  }

  private boolean isOwn(RowImage image) {
    return image.op() == RowOp.PUT && image.table().isOwnedBy(owner, image.values());
  }

  /** The newest of each row; no values. */
  @Override
  public String toString() {
    return owner + " up to version " + highestVersion + ": " + newest.values();
  }

  /**
   * The tables of the game's that had gone when an owner's rows were read: what the owner has there
   * is not known. Immutable.
   */
  public record MissingTables(OwnerId owner, Set<String> names) {
    /**
     * Passes for a table that was read.
     *
     * @param refusal what to throw otherwise
     */
    public void requireKnown(Table table, Function<String, GameQueueException> refusal) {
      if (names.contains(table.name())) {
        throw refusal.apply(
            ("%s: the table had gone, or could not be managed any more, when the rows of %s were to"
                 + " be read: what the owner has there is not known; open or read it again once the"
                 + " table is back (see the command 'schema check' of gameq-writer.jar)")
                .formatted(table.name(), owner));
      }
    }
  }
}
