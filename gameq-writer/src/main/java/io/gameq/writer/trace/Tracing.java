package io.gameq.writer.trace;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.PauseTable;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeSigns;
import io.gameq.terminal.ErrorLine;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks both servers where an owner is; one that is away hides nothing of the other. Thread-safe.
 */
public final class Tracing {
  private final String namespace;
  private final Slots slots;
  private final ControlConnection redis;
  private final Supplier<MySql> mysql;
  private final Supplier<Map<String, String>> parked;

  /**
   * With connections that others close.
   *
   * @param mysql throws {@link GameQueueException} where it cannot be reached
   * @param parked tables that take no rows now, and why; may ask Redis
   */
  public Tracing(
      String namespace,
      Slots slots,
      ControlConnection redis,
      Supplier<MySql> mysql,
      Supplier<Map<String, String>> parked) {
    this.namespace = namespace;
    this.slots = slots;
    this.redis = redis;
    this.mysql = mysql;
    this.parked = parked;
  }

  /** Looks at an owner. */
  public OwnerTrace owner(OwnerId owner) {
    SlotKeys slot = slots.of(owner);
    OwnerInMySql inMySql = null;
    List<Pause> pauses = List.of();
    String mysqlError = "";
    try {
      MySql database = mysql.get();
      inMySql = OwnerInMySql.read(database, owner);
      pauses =
          PauseTable.all(database).stream()
              .filter(
                  of ->
                      of.scope() == Scope.ALL
                          || of.scope() == Scope.TABLE
                          || (of.scope() == Scope.SLOT
                              && of.name().equals(Integer.toString(slot.slot()))))
              .toList();
    } catch (GameQueueException e) {
      inMySql = null;
      mysqlError = ErrorLine.of(e);
    }
    OwnerInRedis inRedis = null;
    String redisError = "";
    String aliveNode = null;
    Map<String, String> nowParked = Map.of();
    try {
      List<SessionId> known = sessions(inMySql);
      inRedis = redis.ask(of -> OwnerInRedis.look(of, slot, owner, known));
      SessionId holder = OwnerTrace.holder(inMySql, inRedis);
      nowParked = parked.get();
      aliveNode = holder == null ? null : aliveNode(holder);
    } catch (GameQueueException e) {
      redisError = ErrorLine.of(e);
    }
    return new OwnerTrace(
        owner, slot.slot(), inRedis, redisError, inMySql, mysqlError, aliveNode, pauses, nowParked);
  }

  private static List<SessionId> sessions(@Nullable OwnerInMySql of) {
    List<SessionId> sessions = new ArrayList<>();
    Raised raised = of == null ? null : of.raised();
    if (raised != null) {
      CountingSessions counting = raised.sessions();
      sessions.add(counting.newest());
      if (counting.before() != null) {
        sessions.add(counting.before());
      }
    }
    return sessions;
  }

  private @Nullable String aliveNode(SessionId session) {
    return redis.ask(of -> NodeSigns.aliveNode(of, namespace, NodeSigns.process(session)));
  }
}
