package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table.Column;
import org.jspecify.annotations.Nullable;

/**
 * A row change on its way from the game to MySQL, as the WAL and Redis hold it: the row's key and
 * its encoded image.
 *
 * @param key {@code table:key parts}, ASCII
 * @param image see {@link RowCodec}; not to be changed by who did not encode it
 */
public record EncodedRow(String key, byte[] image) {
  public RowOp op() {
    return RowHeader.op(image);
  }

  /** The commit's version; zero as long as none was written into the image. */
  public long version() {
    return RowHeader.version(image);
  }

  /**
   * The name of a row everywhere: {@code table:part,part}, each percent-encoded; immutable.
   *
   * <p>One text per row, so equal texts mean the same row, also across a reload of the catalogue.
   */
  public record RowKey(Table table, String text) {
    /** What gameq_tombstone.row_key holds. */
    public static final int MAX_KEY_BYTES = 512;

    /**
     * The key of a full row.
     *
     * @throws RowRefusedException when the key is too long, or MySQL would merge it with another
     */
    public static RowKey of(Table table, @Nullable Object[] row) {
      return ofKey(table, table.keyOf(row));
    }

    /** The key of canonical key parts; see {@link #of}. */
    public static RowKey ofKey(Table table, Object[] key) {
      StringBuilder text = new StringBuilder(32);
      text.append(table.encodedName).append(':');
      int start = text.length();
      for (int i = 0; i < key.length; i++) {
        if (i > 0) {
          text.append(',');
        }
        Column column = table.keyColumns().get(i);
        column.type().appendKeyText(text, key[i], column.label());
      }
      if (text.length() - start > MAX_KEY_BYTES) {
        throw new RowRefusedException(
            "%s: primary key of %s bytes encoded, the limit is %s"
                .formatted(table.name(), text.length() - start, MAX_KEY_BYTES));
      }
      return new RowKey(table, text.toString());
    }

    /**
     * The name of the table in the text of a row key, whether it is managed or not.
     *
     * @throws GameQueueException when the text is damaged: it names no table
     */
    public static String tableName(String text) {
      int colon = text.indexOf(':');
      if (colon < 1) {
        throw new GameQueueException("row key without a table");
      }
      return PercentEncoding.unpercent(text.substring(0, colon));
    }

    /** The part after the table: what gameq_tombstone and gameq_dead_letter call row_key. */
    public String keyText() {
      return text.substring(text.indexOf(':') + 1);
    }

    /** The canonical values of the primary key, in the order of the key. */
    public Object[] parts() {
      String[] texts = keyText().split(",", -1);
      if (texts.length != table.keyTypes.size()) {
        throw new RowRefusedException(
            "%s: row key with %s parts, the primary key has %s"
                .formatted(table.name(), texts.length, table.keyTypes.size()));
      }
      Object[] parts = new Object[texts.length];
      for (int i = 0; i < parts.length; i++) {
        Column column = table.keyColumns().get(i);
        parts[i] = column.type().ofKeyText(PercentEncoding.unpercent(texts[i]));
      }
      return parts;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof RowKey key && key.text.equals(text);
    }

    @Override
    public int hashCode() {
      return text.hashCode();
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
