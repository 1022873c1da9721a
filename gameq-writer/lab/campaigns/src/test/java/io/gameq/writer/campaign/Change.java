package io.gameq.writer.campaign;

/**
 * What a commit does to one row; immutable.
 *
 * @param row {@code table:primary key}
 * @param owner whose row it is afterwards; of a delete, who deleted it
 * @param put false for a delete
 */
public record Change(String row, String owner, boolean put) {
  String table() {
    return table(row);
  }

  static String table(String row) {
    return row.substring(0, row.indexOf(':'));
  }
}
