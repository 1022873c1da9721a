package io.gameq.healing;

import io.gameq.mysql.tables.DurableRows;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.RowCodec;
import io.gameq.view.OwnerViews;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * Where a replay looks.
 *
 * @param redis null when it is gone for good: then it holds nothing
 */
public record Lookups(DurableRows database, @Nullable ReplayRedis redis, DurableTruth truth) {
  /** With the slots of the namespace. */
  public Lookups(DurableRows database, @Nullable ReplayRedis redis, SlotKeys[] slots) {
    this(
        database,
        redis,
        new DurableTruth(
            slots,
            database.owners(),
            rows -> OwnerViews.versions(database.reader(), database.catalog(), rows)));
  }

  /** Decodes rows by the column lists that MySQL knows, and then by those of the WALs. */
  public RowCodec codec(WalSet wals) {
    return new RowCodec(
        (table, fingerprint) -> {
          String known = database.layouts().layout(table, fingerprint);
          return known != null ? known : wals.layout(table, fingerprint);
        },
        Clock.systemUTC());
  }
}
