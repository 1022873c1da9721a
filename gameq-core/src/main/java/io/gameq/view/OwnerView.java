package io.gameq.view;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.topic.DeadLetter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What an owner has, merged from Redis and MySQL: of each row the newest version wins, and deletes
 * and moves hide rows. Not thread-safe while rows are added.
 */
public final class OwnerView {
  private final OwnerId owner;
  private final Map<RowKey, RowImage> newest = new LinkedHashMap<>();
  private final Map<RowKey, RowImage> unflushed = new HashMap<>();
  private final Set<String> missing = new HashSet<>();
  private final List<DeadLetter> deadLetters = new ArrayList<>();
  private long highestVersion;

  OwnerView(OwnerId owner) {
    this.owner = owner;
  }

  /**
   * Takes a row image from Redis or MySQL in; of equal versions the first stays. What the newest
   * does not name an older one tells.
   */
  void add(RowImage image) {
    sawVersion(image.version());
    newest.merge(
        image.rowKey(),
        image,
        (there, other) ->
            other.version() > there.version() ? other.over(there) : there.over(other));
  }

  /** Takes an image from Redis in. */
  void addUnflushed(RowImage image) {
    add(image);
    unflushed.put(image.rowKey(), newest.getOrDefault(image.rowKey(), image));
  }

  /** What Redis holds of each row, newest, as one image. */
  public Collection<RowImage> unflushed() {
    return unflushed.values();
  }

  /**
   * Takes a row in that MySQL holds. It stays the other owner's when it is one, whatever this owner
   * put under its key, unless the row was handed over: MySQL is going to refuse that.
   */
  void addStored(RowImage stored) {
    RowImage there = newest.get(stored.rowKey());
    boolean isForeign =
        there != null
            && there.op() == RowOp.PUT
            && there.handovers().isEmpty()
            && !stored.table().isKeyedByOwner()
            && !stored.table().isOwnedBy(owner, stored.values());
    if (isForeign) {
      sawVersion(stored.version());
      newest.put(stored.rowKey(), stored);
    } else {
      add(stored);
    }
  }

  /** A version of this owner that no row carries any more, such as a tombstone's. */
  void sawVersion(long version) {
    highestVersion = Math.max(highestVersion, version);
  }

  /** A table of the game's that has gone since the node started: its rows cannot be told. */
  void addMissing(String table) {
    missing.add(table);
  }

  /** The tables whose rows cannot be told. */
  public MissingTables missing() {
    return new MissingTables(owner, missing);
  }

  /** A tombstone hides the row up to its version. */
  void addTombstone(RowKey key, long version) {
    sawVersion(version);
    newest.computeIfPresent(key, (k, image) -> image.version() <= version ? null : image);
  }

  /**
   * Before the rows of MySQL are added: what Redis holds of the row up to this version is given up.
   */
  void addDiscard(RowKey key, long version) {
    addTombstone(key, version);
    unflushed.computeIfPresent(key, (k, image) -> image.version() <= version ? null : image);
  }

  /**
   * A row that MySQL refused, unless Redis has a newer version.
   *
   * @param image null when it cannot be read
   * @param row the same as the game knows it; null also of a delete
   */
  void addDeadLetter(DeadLetterTable.Stored letter, @Nullable RowImage image, @Nullable Row row) {
    DeadLetterTable.Refused refused = letter.refused();
    if (image != null) { // else the version may be damaged too
      sawVersion(refused.version());
      RowImage there = newest.get(image.rowKey());
      if (there != null && there.version() > refused.version()) {
        return;
      }
    }
    boolean delete = image != null && image.op() == RowOp.DELETE;
    deadLetters.add(
        new DeadLetter(
            refused.table(),
            letter.key(),
            refused.version(),
            delete,
            row,
            refused.errorCode(),
            refused.errorText(),
            refused.attempts(),
            letter.refusedAt()));
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
    missing().requireKnown(table, GameQueueException::new);
    List<RowImage> rows = new ArrayList<>();
    for (RowImage image : newest.values()) {
      if (image.table().name().equals(table.name()) && isOwn(image)) {
        rows.add(image);
      }
    }
    return rows;
  }

  /**
   * The owner's row of this key; null when it has none.
   *
   * @throws GameQueueException when the table had gone
   */
  public @Nullable RowImage row(Table table, RowKey key) {
    missing().requireKnown(table, GameQueueException::new);
    return rowIfKnown(table, key);
  }

  /** The same; null also when the table had gone. */
  public @Nullable RowImage rowIfKnown(Table table, RowKey key) {
    RowImage image = missing.contains(table.name()) ? null : newest.get(key);
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
    public MissingTables {
      names = Set.copyOf(names);
    }

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
