package io.gameq.lab.peers;

import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.workload.BenchRow;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import javax.cache.Cache;
import org.apache.ignite.cache.store.CacheStoreAdapter;
import org.jspecify.annotations.Nullable;

/**
 * The writer's end of Ignite; finds nothing, since nobody asks for rows that are not in the cache.
 * Ignite makes it out of a configuration that it copies, so the table is the process's.
 * Thread-safe.
 */
final class IgniteTableStore extends CacheStoreAdapter<Long, byte[]> {
  private static final AtomicReference<@Nullable PeerTable> TABLE = new AtomicReference<>();

  /** Where all of them write from now on. */
  static void writeTo(PeerTable table) {
    TABLE.set(table);
  }

  private static void upsert(List<BenchRow> rows) {
    Objects.requireNonNull(TABLE.get()).upsertAll(rows);
  }

  @Override
  public void writeAll(Collection<Cache.Entry<? extends Long, ? extends byte[]>> entries) {
    upsert(entries.stream().map(entry -> RowBytes.row(entry.getKey(), entry.getValue())).toList());
  }

  @Override
  public void write(Cache.Entry<? extends Long, ? extends byte[]> entry) {
    upsert(List.of(RowBytes.row(entry.getKey(), entry.getValue())));
  }

  @Override
  public byte @Nullable [] load(Long key) {
    return null;
  }

  @Override
  public void delete(Object key) {
    throw new UnsupportedOperationException("the workload deletes nothing");
  }
}
