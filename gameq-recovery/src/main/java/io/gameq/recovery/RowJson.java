package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.terminal.Shown;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows as JSON objects: names and values, in order. Stateless. */
final class RowJson {
  private static final JsonMapper JSON = new JsonMapper();

  private RowJson() {}

  /** In one line. */
  static String text(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A version as JSON and CSV have it; null for none. */
  static @Nullable String version(@Nullable Long version) {
    return version == null ? null : Long.toUnsignedString(version);
  }

  /**
   * By whom and when a row was committed: "session", or "sentBy" with the process of the node of a
   * row that was sent; "version" and "time".
   */
  static void putCommit(
      Map<String, @Nullable Object> json, OwnerId owner, String session, long version) {
    if (owner.isInbox()) {
      json.put("sentBy", owner.sender());
    } else {
      json.put("session", session);
    }
    json.put("version", Long.toUnsignedString(version));
    json.put("time", Shown.time(version).toString());
  }

  /** The columns of a row, of a delete its key; or null. */
  static @Nullable Map<String, @Nullable Object> columns(@Nullable RowImage image) {
    if (image == null) {
      return null;
    }
    List<Column> columns =
        image.op() == RowOp.DELETE ? image.table().keyColumns() : image.table().columns();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      Object value = image.values()[i];
      // Larger numbers lose digits where numbers are doubles.
      boolean isPlain = value == null || (value instanceof Long n && Math.abs(n) < 1L << 53);
      json.put(columns.get(i).name(), isPlain ? value : Shown.value(value));
    }
    return json;
  }

  /** What plan and verify have in common of a row. */
  static Map<String, @Nullable Object> of(PlannedRow row) {
    WalRow change = row.change();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("owner", row.owner().id());
    json.put("table", change.table());
    json.put("key", change.keyText());
    json.put("reason", row.reason());
    putCommit(json, change.owner(), change.session().text(), change.version());
    json.put("mysqlVersion", version(row.mysqlVersion()));
    json.put("redisVersion", version(row.redisVersion()));
    return json;
  }
}
