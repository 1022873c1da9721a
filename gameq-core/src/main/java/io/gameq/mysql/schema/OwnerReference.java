package io.gameq.mysql.schema;

import java.util.List;

/**
 * A column that may name the owner of a table's rows, and what speaks for it; immutable.
 *
 * @param target the table whose rows are the owners; where there is none, {@code ?} and their kind
 * @param weight what speaks for it, counted
 * @param close whether the rows are kept under those of the target: by a foreign key, by the
 *     primary key, or by the table's name
 * @param reasons what speaks for it, in words
 */
record OwnerReference(
    String table, String column, String target, int weight, boolean close, List<String> reasons) {
  /** A foreign key alone is no sign of an owner: who banned an address does not own it. */
  static final int ENOUGH = 6;

  /** What stands for a table of owners where there is none. */
  static final String NO_TABLE = "?";

  String reason() {
    return String.join(", ", reasons);
  }

  boolean isSure() {
    return weight >= ENOUGH;
  }
}
