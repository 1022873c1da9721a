package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.healing.WalRow;
import io.gameq.rows.Column;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowOp;
import io.gameq.terminal.Shown;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The columns of a row as a JSON object; of a delete, its key. Stateless. */
final class RowJson {
  private RowJson() {}

  /** A version as JSON and CSV have it; null for none. */
  static @Nullable String version(@Nullable Long version) {
    return version == null ? null : Long.toUnsignedString(version);
  }

  /** The field "session", or "sentBy" with the process of the node of a row that was sent. */
  static void writeSession(JsonGenerator json, WalRow row) throws IOException {
    if (row.owner().isInbox()) {
      json.writeStringField("sentBy", row.owner().sender());
    } else {
      json.writeStringField("session", row.session().text());
    }
  }

  /** Writes the row, or null. */
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
}
