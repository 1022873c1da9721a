package io.gameq.writer.trace;

import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.OwnerInRedis;
import io.gameq.redis.script.OwnerInRedis.InSession;
import io.gameq.redis.script.OwnerInRedis.TracedRows;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.OwnerInMySql.Raised;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where one owner is, as both servers tell. They are asked one after the other: what moves
 * meanwhile may be missed. Immutable.
 *
 * @param redis null when Redis does not answer
 * @param redisError why
 * @param mysql null when MySQL does not answer
 * @param mysqlError why
 * @param aliveNode the node of the session that holds the owner, if it gives signs of life
 * @param pauses of all, the owner's slot, and tables
 * @param parked tables that take no rows now, and why
 */
public record OwnerTrace(
    OwnerId owner,
    int slot,
    @Nullable OwnerInRedis redis,
    String redisError,
    @Nullable OwnerInMySql mysql,
    String mysqlError,
    @Nullable String aliveNode,
    List<Pause> pauses,
    Map<String, String> parked) {
  public OwnerTrace {
    pauses = List.copyOf(pauses);
    parked = Map.copyOf(parked);
  }

  /** Whether any server knows of the owner. */
  public boolean isKnown() {
    return (redis != null && redis.isKnown()) || (mysql != null && mysql.isKnown());
  }

  /** The durable session, if MySQL knows one. */
  @Nullable Raised raised() {
    return mysql == null ? null : mysql.raised();
  }

  /** The session that holds an owner by both servers; null when neither knows one. */
  static @Nullable SessionId holder(@Nullable OwnerInMySql mysql, OwnerInRedis redis) {
    Raised raised = mysql == null ? null : mysql.raised();
    return raised == null ? redis.ownedBy() : raised.sessions().holder(redis.ownedBy());
  }

  /** What pauses everything of the owner; null when nothing does. */
  @Nullable Pause pauseOfAll() {
    return pauses.stream()
        .filter(of -> of.scope() == Scope.ALL || of.scope() == Scope.SLOT)
        .findFirst()
        .orElse(null);
  }

  /** The tables of the owner's rows that are paused. */
  Set<String> pausedTables() {
    return itsPauses().stream()
        .filter(of -> of.scope() == Scope.TABLE)
        .map(Pause::name)
        .collect(Collectors.toSet());
  }

  /** The pauses that hold back rows of the owner, if it has any of their tables. */
  public List<Pause> itsPauses() {
    Set<String> waiting = waitingTables();
    return pauses.stream()
        .filter(of -> of.scope() != Scope.TABLE || waiting.contains(of.name()))
        .toList();
  }

  /** The parked tables of the owner's rows, and why. */
  public Map<String, String> itsParkedTables() {
    Map<String, String> all = new TreeMap<>(parked);
    all.keySet().retainAll(waitingTables());
    return all;
  }

  /** The tables of rows that are dirty or claimed. */
  Set<String> waitingTables() {
    return waiting().flatMap(of -> of.tables().keySet().stream()).collect(Collectors.toSet());
  }

  private Stream<TracedRows> waiting() {
    return redis == null ? Stream.of() : redis.withInboxes().flatMap(OwnerTrace::waiting);
  }

  private static Stream<TracedRows> waiting(OwnerInRedis redis) {
    return Stream.concat(
            redis.sessions().stream().filter(of -> !of.stale()).map(InSession::dirty),
            Stream.ofNullable(redis.claimed()))
        .filter(Objects::nonNull);
  }
}
