package io.gameq.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnTypes;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code gameq_handled}: which handler of a message changed the other rows of its commit.
 * Stateless.
 *
 * <p>A commit that acknowledges a message puts one into each of its parts. It travels as the game's
 * rows do, through WAL, Redis, adoption and replay, so that it is wherever they are. The token is
 * part of its key there: two handlers of one message have two rows, and neither hides the other
 * until MySQL, where the table has one row for each message, decides between them.
 */
public final class HandledRow {
  /** The name of the table. */
  public static final String TABLE_NAME = "gameq_handled";

  /** As nodes, writers and recovery know it; the game has no rows of it. */
  static final Table TABLE = table();

  private static final String PREFIX = TABLE_NAME + ":";

  /** Percent-encoded once more it stays, with the rest, within {@link RowKey#MAX_KEY_BYTES}. */
  private static final int MOST_ID_CHARS = 200;

  /** It names its own columns: none of an older layout is ever looked for. */
  private static final RowCodec CODEC =
      new RowCodec((table, fingerprint) -> null, Clock.systemUTC());

  private HandledRow() {}

  private static Table table() {
    List<Column> columns =
        List.of(
            column("topic", "varchar(32)", "ascii"),
            column("id", "varchar(200)", "ascii"),
            column("version", "bigint unsigned", null),
            column("occurrence", "bigint unsigned", null),
            column("token", "varchar(64)", "ascii"));
    return new Table(
        new TableDefinition(
            TABLE_NAME,
            columns,
            Set.of(),
            columns.stream().map(Column::name).toList(),
            "topic", // as owner of what an operator traces: topic:mail
            "topic",
            List.of(),
            ForeignKeys.NONE));
  }

  private static Column column(String name, String type, @Nullable String charset) {
    return new Column(
        TABLE_NAME + "." + name,
        name,
        ColumnTypes.declaration(type, charset),
        ColumnTypes.parse(type, charset, charset == null ? null : charset + "_bin"),
        false,
        ColumnDefault.NONE);
  }

  /**
   * The row of a handler, of version zero.
   *
   * @param id of the message, encoded
   * @param version of the message that was handled
   * @param occurrence which one of a recurring message, ms; else 0
   * @param token of the handler's claim
   */
  public static EncodedRow of(
      String topic, String id, long version, long occurrence, String token) {
    @Nullable Object[] values = {
      topic,
      id.length() <= MOST_ID_CHARS ? id : digest(id),
      new BigInteger(Long.toUnsignedString(version)),
      BigInteger.valueOf(occurrence),
      token
    };
    return new EncodedRow(RowKey.of(TABLE, values).text(), CODEC.encode(TABLE, RowOp.PUT, values));
  }

  private static String digest(String id) {
    try {
      byte[] sha = MessageDigest.getInstance("SHA-256").digest(id.getBytes(US_ASCII));
      return "sha256-" + HexFormat.of().formatHex(sha);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }

  /** Whether a row key is that of such a row. */
  public static boolean is(String rowKey) {
    return rowKey.startsWith(PREFIX);
  }

  /** Whether a row is one. */
  public static boolean is(RowKey key) {
    return key.table() == TABLE;
  }

  /** What the keys of all handlers' rows of one message begin with: all but the token. */
  public static String handling(String rowKey) {
    return rowKey.substring(0, rowKey.lastIndexOf(','));
  }

  /** The message that a row tells of, for people: {@code topic/id}. */
  public static String message(RowKey key) {
    Object[] parts = key.parts();
    return parts[0] + "/" + parts[1];
  }
}
