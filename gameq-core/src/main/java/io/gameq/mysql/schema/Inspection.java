package io.gameq.mysql.schema;

import java.util.List;

/** What {@link CatalogReader#inspect} found, table by table in the order of the question. */
public record Inspection(List<TableInspection> tables) {
  public Inspection {
    tables = List.copyOf(tables);
  }

  /** True when every table can be managed, after the missing version columns were added. */
  public boolean manageable() {
    return tables.stream().allMatch(TableInspection::manageable);
  }
}
