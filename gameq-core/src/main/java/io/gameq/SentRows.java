package io.gameq;

import java.util.List;
import java.util.Set;

/**
 * Rows that others sent to an owner, as its session is told of them; immutable. See {@link
 * GameQueue#send}.
 */
public interface SentRows {
  /** The tables that have any. */
  Set<String> tables();

  /**
   * Those of one table, oldest first.
   *
   * @param type a record class that names a managed table, see {@link TableName}
   */
  <T extends Record> List<T> rows(Class<T> type);

  /** The same by the name of the table. */
  List<Row> rows(String table);
}
