package io.gameq.healing;

import io.gameq.healing.WalFolder.WalSet;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.RowCodec;
import io.gameq.view.OwnerViews;
import java.time.Clock;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the replay of a WAL looks.
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

  /** The session that owns as far as Redis knows; null when it knows none, or is gone. */
  @Nullable SessionId ownedBy(OwnerId owner) {
    return redis == null ? null : redis.ownedBy(owner);
  }

  /** The sessions of owners by MySQL, with nodes and times. */
  Map<OwnerId, Durable> durable(Stream<OwnerId> owners) {
    return database.owners().durable(owners.collect(Collectors.toSet()));
  }

  @Nullable RedisConnection connection() {
    return redis == null ? null : redis.connection;
  }

  /** One connection to Redis, on which a replay sends scripts many at a time. One thread. */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record ReplayRedis(RedisConnection connection, String namespace, SlotKeys[] slots) {
    public SlotKeys slot(OwnerId owner) {
      return slots[owner.slot(slots.length)];
    }

    /** The node of which this process is alive, null when it gave no sign of life for 15 s. */
    public @Nullable String aliveNode(String process) {
      return NodeSigns.aliveNode(connection, namespace, process);
    }

    /** The session that owns, as far as Redis knows. */
    public @Nullable SessionId ownedBy(OwnerId owner) {
      return SessionScripts.session(connection, slot(owner), owner);
    }
  }
}
