package io.gameq.rows;

import io.gameq.rows.CurrentCatalog.Catalog;
import java.util.concurrent.ConcurrentHashMap;

/** The mappers of one catalogue, each built when its record class is first used; any thread. */
public final class RecordMappers {
  private final Catalog catalog;
  private final ConcurrentHashMap<Class<?>, RecordMapper<?>> mappers = new ConcurrentHashMap<>();

  public RecordMappers(Catalog catalog) {
    this.catalog = catalog;
  }

  /**
   * The mapper of a record class.
   *
   * @throws io.gameq.GameQueueException when its table is not managed or does not fit the record
   */
  public <T extends Record> RecordMapper<T> of(Class<T> type) {
    RecordMapper<?> mapper = mappers.get(type);
    if (mapper == null) {
      mapper =
          mappers.computeIfAbsent(
              type, t -> RecordMapper.of(type, catalog.table(RecordMapper.tableName(type))));
    }
    @SuppressWarnings("unchecked") // The key is the class that the mapper was built for.
    RecordMapper<T> typed = (RecordMapper<T>) mapper;
    return typed;
  }
}
