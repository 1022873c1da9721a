package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.terminal.Shown;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows as JSON, and lines of JSON. Stateless. */
final class RowJson {
  private static final JsonFactory JSON = new JsonFactory();

  private RowJson() {}

  /** Writes the fields of an object. */
  interface Fields {
    void write(JsonGenerator line) throws IOException;
  }

  /** An object in one line. */
  static String text(Fields fields) {
    return value(
        line -> {
          line.writeStartObject();
          fields.write(line);
          line.writeEndObject();
        });
  }

  /** Any value in one line. */
  static String value(Fields value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator line = JSON.createGenerator(text)) {
      value.write(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** A version as JSON and CSV have it; null for none. */
  static @Nullable String version(@Nullable Long version) {
    return version == null ? null : Long.toUnsignedString(version);
  }

  /**
   * Fields that tell by whom and when a row was committed: "session", or "sentBy" with the process
   * of the node of a row that was sent; "version" and "time".
   */
  static void writeCommit(JsonGenerator json, OwnerId owner, String session, long version)
      throws IOException {
    if (owner.isInbox()) {
      json.writeStringField("sentBy", owner.sender());
    } else {
      json.writeStringField("session", session);
    }
    json.writeStringField("version", Long.toUnsignedString(version));
    json.writeStringField("time", Shown.time(version).toString());
  }

  /** The same as a field. */
  static void write(JsonGenerator json, String name, @Nullable RowImage image) throws IOException {
    json.writeFieldName(name);
    write(json, image);
  }

  /** The columns of a row as an object, of a delete its key; or null. */
  static void write(JsonGenerator json, @Nullable RowImage image) throws IOException {
    if (image == null) {
      json.writeNull();
      return;
    }
    List<Column> columns =
        image.op() == RowOp.DELETE ? image.table().keyColumns() : image.table().columns();
    json.writeStartObject();
    for (int i = 0; i < columns.size(); i++) {
      json.writeFieldName(columns.get(i).name());
      Object value = image.values()[i];
      if (value == null) {
        json.writeNull();
      } else if (value instanceof Long number && Math.abs(number) < 1L << 53) {
        json.writeNumber(number); // larger ones lose digits where numbers are doubles
      } else {
        json.writeString(Shown.value(value));
      }
    }
    json.writeEndObject();
  }

  /** Fields of a planned row that plan and verify have in common. */
  static void write(JsonGenerator json, PlannedRow row) throws IOException {
    WalRow change = row.change();
    json.writeStringField("owner", row.owner().id());
    json.writeStringField("table", change.table());
    json.writeStringField("key", change.keyText());
    json.writeStringField("reason", row.reason());
    writeCommit(json, change.owner(), change.session().text(), change.version());
    json.writeStringField("mysqlVersion", version(row.mysqlVersion()));
    json.writeStringField("redisVersion", version(row.redisVersion()));
  }
}
