package io.gameq.node;

import io.gameq.Row;
import io.gameq.SentRows;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.Table;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What a session is told of. Immutable. */
record RowsSent(GameRows games, List<EncodedRow> rows) implements SentRows {
  RowsSent {
    rows = rows.stream().sorted(Comparator.comparingLong(EncodedRow::version)).toList();
  }

  @Override
  public Set<String> tables() {
    return rows.stream().map(GameRows::tableOf).collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public <T extends Record> List<T> rows(Class<T> type) {
    RecordMapper<T> mapper = games.mapper(type);
    return rows(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public List<Row> rows(String table) {
    Table of = games.table(table);
    return rows.stream()
        .filter(row -> GameRows.tableOf(row).equals(of.name()))
        .map(row -> games.tables().row(games.decode(row), of))
        .toList();
  }

  /** Keys alone. */
  @Override
  public String toString() {
    return rows.stream().map(EncodedRow::key).toList().toString();
  }
}
