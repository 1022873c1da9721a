package io.gameq.node;

import io.gameq.Row;
import io.gameq.SentRows;
import io.gameq.durability.SentToSession;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rows that others sent to a session's owner, on their way to the game. Thread-safe. */
final class SentToGame {
  private final GameRows games;
  private final Executor callbacks;
  private final List<EncodedRow> waiting = new ArrayList<>();
  private @Nullable Consumer<SentRows> listener;

  /** With {@code callbacks}, where the game's code runs. */
  SentToGame(GameRows games, Executor callbacks) {
    this.games = games;
    this.callbacks = callbacks;
  }

  /** The game wants to be told from now on, and of those that wait. */
  synchronized void to(Consumer<SentRows> game) {
    listener = game;
    tell();
  }

  /** Rows came; when nobody wants to be told, the oldest are forgotten. */
  synchronized void came(List<EncodedRow> rows) {
    waiting.addAll(rows);
    waiting.subList(0, Math.max(0, waiting.size() - SentToSession.MOST_WAITING)).clear();
    tell();
  }

  private void tell() {
    Consumer<SentRows> game = listener;
    if (game != null && !waiting.isEmpty()) {
      SentRows rows = new RowsSent(games, waiting);
      waiting.clear();
      callbacks.execute(() -> game.accept(rows));
    }
  }

  /** What a session is told of. Immutable. */
  private record RowsSent(GameRows games, List<EncodedRow> rows) implements SentRows {
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
}
