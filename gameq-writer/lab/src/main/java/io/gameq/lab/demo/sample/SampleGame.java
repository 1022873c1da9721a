package io.gameq.lab.demo.sample;

import io.gameq.Row;
import io.gameq.lab.demo.game.DemoActor;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RecordMapper.RecordMappers;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** The demo's own game: players with items, quests and pets. Thread-safe. */
public final class SampleGame implements DemoGame {
  /** Its tables, to be managed. */
  public static final List<TableSpec> TABLES =
      List.of(
          new TableSpec("player", "player", "id"),
          new TableSpec("item", "player", "player_id"),
          new TableSpec("quest_progress", "player", "player_id"),
          new TableSpec("pet", "player", "player_id"));

  private final Catalog catalog;
  private final RecordMappers mappers;
  private final Clock clock = Clock.systemUTC();
  private final long seed;
  private final AtomicLong petIds = new AtomicLong();

  public SampleGame(Catalog catalog, long seed) {
    this.catalog = catalog;
    this.mappers = new RecordMappers(catalog);
    this.seed = seed;
  }

  @Override
  public List<Table> tables() {
    return catalog.tables();
  }

  @Override
  public DemoActor actor(int number) {
    return new SamplePlayer(this, number + 1L, new Random(seed * 1_000_003 + number));
  }

  long nextPetId() {
    return petIds.incrementAndGet();
  }

  /** The row that gameq makes of a record. */
  @SuppressWarnings("unchecked") // the class of a T
  <T extends Record> Row row(T row) {
    RecordMapper<T> mapper = mappers.of((Class<T>) row.getClass());
    return new TableRow(mapper.table(), mapper.toPart(row).over(null, clock));
  }
}
