package io.gameq.rows;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A UNIQUE key of a table besides its primary key; immutable.
 *
 * @param columns that gameq writes, in their order; empty when a part of the key is an expression,
 *     a prefix, or a column that MySQL computes
 * @param spare the column of which a row can be given another value for a moment, so that rows can
 *     exchange theirs; null when MySQL would refuse that, or {@link #columns} is empty
 */
public record UniqueKey(String name, List<String> columns, @Nullable String spare) {
  public UniqueKey {
    columns = List.copyOf(columns);
  }
}
