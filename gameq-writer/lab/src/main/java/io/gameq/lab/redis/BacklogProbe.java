package io.gameq.lab.redis;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.List;
import org.HdrHistogram.Histogram;

/** {@code backlog.lua} and {@code dirty.lua}: what of a namespace waits. Thread-safe. */
public final class BacklogProbe implements AutoCloseable {
  private static final LuaScript BACKLOG = LuaScript.of(BacklogProbe.class, "backlog.lua");
  private static final LuaScript DIRTY = LuaScript.of(BacklogProbe.class, "dirty.lua");
  private static final int DIGITS = 3;

  private final ControlConnection connection;
  private final SlotKeys[] slots;

  public BacklogProbe(RedisConnector redis, SlotKeys[] slots) {
    connection = new ControlConnection(redis);
    this.slots = slots.clone();
  }

  /** Owners that wait or are being flushed; one call for each slot. */
  public long owners() {
    long owners = 0;
    for (SlotKeys slot : slots) {
      for (Object part : connection.call(redis -> BACKLOG.call(redis, slot, List.of()))) {
        owners += (Long) part;
      }
    }
    return owners;
  }

  /** Rows that wait and that no writer has claimed; costs Redis a command for each owner. */
  public long dirtyRows() {
    long rows = 0;
    for (SlotKeys slot : slots) {
      rows += (Long) connection.call(redis -> DIRTY.call(redis, slot, List.of())).get(0);
    }
    return rows;
  }

  /** How long it takes to ask one slot how many owners wait, ns. */
  public Histogram latency(int calls) {
    Histogram nanos = new Histogram(DIGITS);
    for (int i = 0; i < calls; i++) {
      SlotKeys slot = slots[i % slots.length];
      long began = System.nanoTime();
      connection.call(redis -> BACKLOG.call(redis, slot, List.of()));
      nanos.recordValue(System.nanoTime() - began);
    }
    return nanos;
  }

  @Override
  public void close() {
    connection.close();
  }
}
