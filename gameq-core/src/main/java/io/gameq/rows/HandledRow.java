package io.gameq.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.TableDefinition;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnTypes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * A row of {@code gameq_handled}: which handler of a message changed the other rows of its commit.
 * Stateless.
 *
 * <p>A commit that acknowledges a message puts one into each of its parts. It travels as the game's
 * rows do, through WAL, Redis, adoption and replay, so that it is wherever they are. The token is
 * part of its key there: two handlers of one message have two rows, and neither hides the other
 * until MySQL, where the table has one row for each message, decides between them.
 *
 * <p>Behind its columns it carries the message, which Redis has no more: where the handler's rows
 * are parked for good, since their session lost its owner, the message is given back.
 */
public final class HandledRow {
  /** The name of the table. */
  public static final String TABLE_NAME = Table.HANDLED;

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
   * A message that may be given back.
   *
   * @param id encoded
   * @param slot of the namespace that it lies in
   * @param dueMillis when it was due, Redis time in ms
   * @param value as Redis held it; empty of one that cannot be given back
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Message(String topic, String id, int slot, long dueMillis, byte[] value) {}

  /**
   * The row of a handler, of version zero.
   *
   * @param version of the message that was handled
   * @param occurrence which one of a recurring message, ms; else 0
   * @param token of the handler's claim
   */
  public static EncodedRow of(Message message, long version, long occurrence, String token) {
    String id = message.id;
    @Nullable Object[] values = {
      message.topic,
      id.length() <= MOST_ID_CHARS ? id : digest(id),
      new BigInteger(Long.toUnsignedString(version)),
      BigInteger.valueOf(occurrence),
      token
    };
    return new EncodedRow(
        RowKey.of(TABLE, values).text(),
        withMessage(CODEC.encode(TABLE, RowOp.PUT, values), message));
  }

  private static byte[] withMessage(byte[] row, Message message) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.writePayload(row);
      packer.packString(message.id).packInt(message.slot).packLong(message.dueMillis);
      packer.packBinaryHeader(message.value.length).writePayload(message.value);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
  }

  /**
   * The message that a row carries behind its columns; null when it carries none.
   *
   * @throws GameQueueException when the bytes are damaged
   */
  public static @Nullable Message carried(RowKey key, byte[] row) {
    int from = RowHeader.columnsAt(row);
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(row, from, row.length - from)) {
      in.skipValue();
      if (!in.hasNext()) {
        return null;
      }
      String id = in.unpackString();
      int slot = in.unpackInt();
      long dueMillis = in.unpackLong();
      byte[] value = in.readPayload(in.unpackBinaryHeader());
      return value.length == 0
          ? null
          : new Message(key.parts()[0].toString(), id, slot, dueMillis, value);
    } catch (IOException | MessagePackException e) {
      throw new GameQueueException("the message in row " + key.text() + " is damaged", e);
    }
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
