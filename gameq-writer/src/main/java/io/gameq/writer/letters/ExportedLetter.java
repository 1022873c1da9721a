package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.rows.Column;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowOp;
import io.gameq.rows.types.ValueText;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A dead letter as an export has it: what lists have, and its row. Stateless. */
final class ExportedLetter {
  private ExportedLetter() {}

  /** For a JSON object; without values the row is the list of the columns that it names. */
  static Map<String, Object> of(
      ListedLetter listed, Refused letter, Reading reading, boolean withValues) {
    Map<String, Object> values = listed.values();
    if (reading instanceof Decoded decoded) {
      Map<String, @Nullable String> row = row(decoded.image());
      values.put("op", decoded.image().op().name().toLowerCase(Locale.ROOT));
      values.put(withValues ? "row" : "columns", withValues ? row : List.copyOf(row.keySet()));
    } else {
      values.put("bytes", letter.image().length);
      values.put("undecodable", ((Undecodable) reading).reason());
    }
    return values;
  }

  private static Map<String, @Nullable String> row(RowImage image) {
    boolean isDelete = image.op() == RowOp.DELETE;
    List<Column> columns = isDelete ? image.table().keyColumns() : image.table().columns();
    Map<String, @Nullable String> row = new LinkedHashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      if (isDelete || image.names(i)) {
        Object value = image.values()[i];
        row.put(columns.get(i).name(), value == null ? null : ValueText.of(value));
      }
    }
    return row;
  }
}
