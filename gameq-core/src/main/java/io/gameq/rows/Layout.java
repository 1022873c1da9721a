package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.owner.PercentEncoding;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.SqlText;
import io.gameq.rows.types.TextCharset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The column list that a row was encoded with, as text {@code name type,name type charset,...}, and
 * the CRC-32 that names it; immutable.
 *
 * <p>Names are percent-encoded, so the first space ends them; a comma inside of quotes or brackets
 * belongs to a type.
 */
record Layout(List<String> names, List<ColumnType> types) {

  static String text(List<Column> columns) {
    StringBuilder out = new StringBuilder();
    for (Column column : columns) {
      out.append(out.isEmpty() ? "" : ",");
      out.append(PercentEncoding.percent(column.name())).append(' ').append(column.declaration());
    }
    return out.toString();
  }

  /** An unsigned 32-bit number. */
  static long fingerprint(String text) {
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return crc.getValue();
  }

  static Layout parse(String text) {
    List<String> names = new ArrayList<>();
    List<ColumnType> types = new ArrayList<>();
    for (String column : split(text)) {
      int space = column.indexOf(' ');
      if (space < 0) {
        throw new GameQueueException("layout with a column without a type");
      }
      names.add(PercentEncoding.unpercent(column.substring(0, space)));
      String declaration = column.substring(space + 1);
      int charset = declaration.lastIndexOf(' ');
      String last = charset < 0 ? "" : declaration.substring(charset + 1);
      types.add(
          TextCharset.ofName(last) == null
              ? ColumnTypes.parse(declaration, null, null)
              : ColumnTypes.parse(declaration.substring(0, charset), last, null));
    }
    return new Layout(names, types);
  }

  /** The place of a column, in capitals or small letters as MySQL compares them; -1 for none. */
  int indexOf(String column) {
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(column)) {
        return i;
      }
    }
    return -1;
  }

  private static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    StringBuilder quoted = new StringBuilder();
    int from = 0;
    int depth = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\'') {
        i = SqlText.unquote(text, i + 1, quoted) - 1;
      } else if (c == '(') {
        depth++;
      } else if (c == ')') {
        depth--;
      } else if (c == ',' && depth == 0) {
        parts.add(text.substring(from, i));
        from = i + 1;
      }
    }
    parts.add(text.substring(from));
    return parts;
  }
}
