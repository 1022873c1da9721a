package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RowRefusedException;
import io.gameq.Urgency;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.Table;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The changes that the game's code stages for one commit of its own. What it stages never meets
 * what is staged in the sessions. Used by the game's thread that runs this code.
 */
final class StagedChangeSet implements ChangeSet {
  private final NodeQueue queue;
  private final GameRows rows;

  /** What stages of each session's owner. */
  final List<StagedChanges> shares;

  Urgency urgency = Urgency.NORMAL;

  /** Throws GameQueueException when these are no sessions of this node. */
  StagedChangeSet(NodeQueue queue, GameNode node, Collection<? extends OwnerSession> sessions) {
    this.queue = queue;
    this.rows = node.rows;
    StagedChanges.Size size = new StagedChanges.Size(node.config.limits());
    this.shares =
        new LinkedHashSet<>(sessions)
            .stream().map(session -> NodeSession.of(session).staged.beside(size)).toList();
    if (shares.isEmpty()) {
      throw new GameQueueException("a change set needs at least one session");
    }
  }

  /**
   * Runs the game's code; throws what it throws, and what the first refused change was refused
   * with. Takes no more afterwards.
   */
  <T> T stage(Function<ChangeSet, T> code) {
    T value;
    try {
      value = code.apply(this);
    } finally {
      shares.forEach(share -> share.seal());
    }
    shares.forEach(share -> share.requireWhole());
    return value;
  }

  @Override
  public <T extends Record> void put(T row) {
    change("put", () -> put(rows.given(row)));
  }

  @Override
  public void put(String table, Map<String, ?> columns) {
    change("put", () -> put(rows.given(table, columns)));
  }

  private void put(GameRows.Given row) {
    ownersOf(row).put(row);
  }

  @Override
  public <T extends Record> void update(T row) {
    change("update", () -> update(rows.part(row)));
  }

  @Override
  public void update(String table, Map<String, ?> columns) {
    change("update", () -> update(rows.part(table, columns)));
  }

  private void update(PartialRow row) {
    ownersOf(row).update(row);
  }

  @Override
  public void delete(Class<? extends Record> type, Object... key) {
    change("delete", () -> delete(rows.mapper(type).table(), key));
  }

  @Override
  public void delete(String table, Object... key) {
    change("delete", () -> delete(rows.table(table), key));
  }

  private void delete(Table table, Object[] key) {
    ownersOf(table, key).delete(table, key);
  }

  @Override
  public void delete(OwnerSession of, Class<? extends Record> type, Object... key) {
    change("delete", () -> of(of).delete(rows.mapper(type).table(), key));
  }

  @Override
  public void delete(OwnerSession of, String table, Object... key) {
    change("delete", () -> of(of).delete(rows.table(table), key));
  }

  @Override
  public <T extends Record> void move(T row, OwnerSession from) {
    change("move", () -> move(rows.given(row), of(from)));
  }

  @Override
  public void move(String table, Map<String, ?> columns, OwnerSession from) {
    change("move", () -> move(rows.given(table, columns), of(from)));
  }

  private void move(GameRows.Given row, StagedChanges giver) {
    StagedChanges taker = ownersOf(row);
    if (taker.equals(giver)) {
      throw new RowRefusedException(
          "%s: the row stays with %s: put it, or name its new owner by its column %s"
              .formatted(row.table().name(), giver.owner, row.table().ownerColumn().name()));
    }
    giver.move(row, taker);
  }

  @Override
  public <T> void publish(Topic<T> topic, Publish<T> message) {
    change("publish", () -> shares.get(0).stage(queue.change(topic, message)));
  }

  @Override
  public <T extends Record> void send(String owner, T row) {
    change("send", () -> send(OwnerId.of(owner), rows.given(row)));
  }

  @Override
  public void send(String owner, String table, Map<String, ?> columns) {
    change("send", () -> send(OwnerId.of(owner), rows.given(table, columns)));
  }

  /** By one of the set; by the receiver if it is of the set, to refuse that. */
  private void send(OwnerId to, GameRows.Given row) {
    find(to).orElse(shares.get(0)).send(to, row);
  }

  @Override
  public void urgent() {
    urgency = Urgency.URGENT;
  }

  /** What is refused discards the set, whatever the game's code does with the exception. */
  private void change(String what, Runnable staging) {
    shares.get(0).change(what, staging);
  }

  private StagedChanges of(OwnerSession session) {
    return shares.stream()
        .filter(share -> share.session.equals(session))
        .findFirst()
        .orElseThrow(
            () -> new GameQueueException("the session is none of this change set: " + session));
  }

  private Optional<StagedChanges> find(OwnerId owner) {
    return shares.stream().filter(share -> share.owner.equals(owner)).findFirst();
  }

  private StagedChanges ownersOf(GameRows.Given row) {
    return ownersOf(row.table(), row.table().ownerOf(row.values()));
  }

  private StagedChanges ownersOf(PartialRow row) {
    if (row.namesOwner()) {
      return ownersOf(row.table(), row.owner());
    }
    if (shares.size() > 1) {
      throw new RowRefusedException(
          "%s: an update in a change set of several owners names the owner by its column %s"
              .formatted(row.table().name(), row.table().ownerColumn().name()));
    }
    return shares.get(0);
  }

  private StagedChanges ownersOf(Table table, OwnerId owner) {
    return find(owner)
        .orElseThrow(
            () ->
                new RowRefusedException(
                    ("%s: the row belongs to %s by its column %s, and the change set is of %s:"
                            + " give transact that owner's session too")
                        .formatted(
                            table.name(),
                            owner,
                            table.ownerColumn().name(),
                            shares.stream()
                                .map(share -> share.owner.toString())
                                .collect(Collectors.joining(", ")))));
  }

  private StagedChanges ownersOf(Table table, Object... key) {
    int part = table.keyColumns().indexOf(table.ownerColumn());
    if (part >= 0) {
      return ownersOf(table, table.ownerOfValue(CanonicalRow.key(table, key)[part]));
    }
    if (shares.size() > 1) {
      throw new RowRefusedException(
          ("%s: the primary key does not name the owner: say whose row it is, delete(session,"
                  + " ...)")
              .formatted(table.name()));
    }
    return shares.get(0);
  }
}
