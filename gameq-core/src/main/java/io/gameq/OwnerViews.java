package io.gameq;

import io.gameq.catalog.Catalog;
import io.gameq.catalog.LayoutException;
import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowImage;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.Table;
import io.gameq.mysql.DeadLetterTable;
import io.gameq.mysql.OwnerReader;
import io.gameq.redis.UnflushedRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges what Redis holds of an owner with what MySQL does: the last step of open, and every read.
 * Thread-safe.
 */
final class OwnerViews {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerViews.class);

  private final Catalog catalog;
  private final RowCodec codec;
  private final OwnerReader reader;

  OwnerViews(Catalog catalog, RowCodec codec, OwnerReader reader) {
    this.catalog = catalog;
    this.codec = codec;
    this.reader = reader;
  }

  /** Rows that somebody else put into gameq's keys, or broke: writers set them aside. */
  static List<UnflushedRow> withoutDamaged(List<UnflushedRow> rows) {
    return rows.stream().filter(row -> !isDamaged(row)).toList();
  }

  private static boolean isDamaged(UnflushedRow row) {
    try {
      RowCodec.version(row.image());
      RowKey.tableName(row.key());
      return false;
    } catch (GameQueueException e) {
      return true;
    }
  }

  /**
   * Reads MySQL and merges. Redis was read first: what it no longer had then is in MySQL by now.
   *
   * @param session that is being opened; null for a read
   * @param unflushed what Redis holds, without what is damaged
   * @throws OwnershipLostException when a newer session was opened meanwhile
   */
  OwnerView load(
      OwnerId owner,
      @Nullable SessionId session,
      List<Table> tables,
      List<UnflushedRow> unflushed) {
    OwnerView view = new OwnerView(owner);
    List<RowKey> keys = new ArrayList<>();
    for (UnflushedRow row : unflushed) {
      RowImage image = decode(row, view);
      if (image != null) {
        keys.add(catalog.rowKey(row.key()));
        view.add(image);
      }
    }
    List<DeadLetterTable.Stored> letters = new ArrayList<>();
    boolean stillOwns =
        reader.read(
            owner,
            session,
            tables,
            keys,
            new OwnerReader.Sink() {
              @Override
              public void row(RowImage image) {
                view.add(image);
              }

              @Override
              public void tombstone(RowKey key, long version) {
                view.addTombstone(key, version);
              }

              @Override
              public void deadLetter(DeadLetterTable.Stored letter) {
                letters.add(letter);
              }

              @Override
              public void tombstoneVersion(long version) {
                view.sawVersion(version);
              }
            });
    if (!stillOwns) {
      throw new OwnershipLostException(
          "another session opened " + owner + " while session " + session + " was being opened");
    }
    addDeadLetters(view, letters);
    return view;
  }

  /** Those that no newer version, delete or move has replaced. */
  private void addDeadLetters(OwnerView view, List<DeadLetterTable.Stored> letters) {
    Map<String, Long> there =
        letters.isEmpty()
            ? Map.of()
            : versions(letters.stream().map(DeadLetterTable.Stored::key).toList());
    for (DeadLetterTable.Stored letter : letters) {
      if (there.getOrDefault(letter.key(), -1L) < letter.refused().version()) {
        view.addDeadLetter(
            letter, decode(new UnflushedRow(letter.key(), letter.refused().image()), view));
      }
    }
  }

  /**
   * Null when the row cannot be read now; if that is for a table or columns that are gone, it waits
   * in Redis, and its version counts.
   */
  private @Nullable RowImage decode(UnflushedRow row, OwnerView view) {
    try {
      if (isManaged(row.key())) {
        return codec.decode(catalog.rowKey(row.key()).table(), row.image());
      }
      LOG.warn("row {} cannot be read: its table is not managed now", row.key());
      view.sawVersion(RowCodec.version(row.image()));
    } catch (MySqlException e) {
      throw e;
    } catch (LayoutException e) {
      LOG.warn("row {} cannot be read now: {}", row.key(), e.getMessage());
      view.sawVersion(RowCodec.version(row.image()));
    } catch (GameQueueException e) {
      LOG.warn("row {} cannot be read: {}", row.key(), e.getMessage());
    }
    return null;
  }

  private boolean isManaged(String rowKey) {
    return catalog.manages(RowKey.tableName(rowKey));
  }

  /** The version that MySQL holds of each row, deleted rows by their tombstone. */
  Map<String, Long> versions(Collection<String> rowKeys) {
    return byText(reader.versions(managed(rowKeys)));
  }

  /** The versions in which rows were set aside. */
  Map<String, Long> setAside(Collection<String> rowKeys) {
    return byText(reader.setAside(managed(rowKeys)));
  }

  private List<RowKey> managed(Collection<String> rowKeys) {
    return rowKeys.stream().filter(this::isManaged).map(catalog::rowKey).toList();
  }

  private static Map<String, Long> byText(Map<RowKey, Long> versions) {
    Map<String, Long> byText = new HashMap<>();
    versions.forEach((key, version) -> byText.put(key.text(), version));
    return byText;
  }
}
