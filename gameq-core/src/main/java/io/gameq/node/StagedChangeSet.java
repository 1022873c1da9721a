package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.OwnerSession;
import io.gameq.Publish;
import io.gameq.RowRefusedException;
import io.gameq.Topic;
import io.gameq.Urgency;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.PartialRow;
import io.gameq.rows.Table;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The changes that the game's code stages for one commit of its own. What it stages never meets
 * what is staged in the sessions. Used by the game's thread that runs this code.
 */
final class StagedChangeSet implements ChangeSet {
  private final NodeQueue queue;
  private final List<Share> shares;
  private Urgency urgency = Urgency.NORMAL;

  /** What is staged of one session's owner. */
  record Share(NodeSession session, StagedChanges staged, ChangeStaging changes) {}

  /** Throws GameQueueException when these are no sessions of this node. */
  StagedChangeSet(NodeQueue queue, Limits limits, Collection<? extends OwnerSession> sessions) {
    this.queue = queue;
    StagedSize size = new StagedSize(limits);
    this.shares =
        new LinkedHashSet<>(sessions)
            .stream().map(NodeSession::of).map(session -> share(session, size)).toList();
    if (shares.isEmpty()) {
      throw new GameQueueException("a change set needs at least one session");
    }
  }

  private static Share share(NodeSession session, StagedSize size) {
    session.staged().requireOpen();
    StagedChanges staged = session.staged().beside(size);
    return new Share(session, staged, session.stagingInto(staged));
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
      shares.forEach(share -> share.staged.seal());
    }
    shares.forEach(share -> share.staged.requireWhole());
    return value;
  }

  List<Share> shares() {
    return shares;
  }

  CommitTerms terms() {
    return CommitTerms.of(urgency);
  }

  @Override
  public <T extends Record> void put(T row) {
    stagePut(() -> queue.rows().given(row));
  }

  @Override
  public void put(String table, Map<String, ?> columns) {
    stagePut(() -> queue.rows().given(table, columns));
  }

  @Override
  public <T extends Record> void update(T row) {
    stageUpdate(() -> queue.rows().part(row));
  }

  @Override
  public void update(String table, Map<String, ?> columns) {
    stageUpdate(() -> queue.rows().part(table, columns));
  }

  private void stageUpdate(Supplier<PartialRow> given) {
    PartialRow row = checked("update", given);
    Share owners = checked("update", () -> ownersOf(row));
    owners.changes.update(() -> row, owners.session::currentRow);
  }

  private void stagePut(Supplier<GameRows.Given> given) {
    GameRows.Given row = checked("put", given);
    Share owners = checked("put", () -> ownersOf(row));
    owners.changes.put(() -> row);
  }

  @Override
  public void delete(Class<? extends Record> type, Object... key) {
    stageDelete(() -> queue.rows().mapper(type).table(), key);
  }

  @Override
  public void delete(String table, Object... key) {
    stageDelete(() -> queue.rows().table(table), key);
  }

  private void stageDelete(Supplier<Table> table, Object... key) {
    Table of = checked("delete", table);
    Share owners = checked("delete", () -> ownersOf(of, key));
    owners.changes.delete(() -> of, key);
  }

  @Override
  public void delete(OwnerSession of, Class<? extends Record> type, Object... key) {
    checked("delete", () -> of(of)).changes.delete(() -> queue.rows().mapper(type).table(), key);
  }

  @Override
  public void delete(OwnerSession of, String table, Object... key) {
    checked("delete", () -> of(of)).changes.delete(() -> queue.rows().table(table), key);
  }

  @Override
  public <T extends Record> void move(T row, OwnerSession from) {
    stageMove(() -> queue.rows().given(row), from);
  }

  @Override
  public void move(String table, Map<String, ?> columns, OwnerSession from) {
    stageMove(() -> queue.rows().given(table, columns), from);
  }

  private void stageMove(Supplier<GameRows.Given> given, OwnerSession from) {
    Share giver = checked("move", () -> of(from));
    GameRows.Given row = checked("move", given);
    Share taker = checked("move", () -> ownersOf(row));
    if (taker.equals(giver)) {
      throw giver.changes.refused(
          "move",
          new RowRefusedException(
              "%s: the row stays with %s: put it, or name its new owner by its column %s"
                  .formatted(
                      row.table().name(),
                      giver.changes.owner(),
                      row.table().ownerColumn().name())));
    }
    giver.changes.move(() -> row, taker.changes);
  }

  @Override
  public <T> void publish(Topic<T> topic, String key, T payload) {
    publish(topic, Publish.of(key, payload));
  }

  @Override
  public <T> void publish(Topic<T> topic, Publish<T> message) {
    shares.get(0).changes.publish(() -> queue.change(topic, message));
  }

  @Override
  public <T extends Record> void send(String owner, T row) {
    OwnerId to = OwnerId.of(owner);
    sender(to).changes.send(to, () -> queue.rows().given(row));
  }

  @Override
  public void send(String owner, String table, Map<String, ?> columns) {
    OwnerId to = OwnerId.of(owner);
    sender(to).changes.send(to, () -> queue.rows().given(table, columns));
  }

  /** One of the set; the receiver if it is of the set, to refuse that. */
  private Share sender(OwnerId to) {
    return shares.stream()
        .filter(share -> share.changes.owner().equals(to))
        .findFirst()
        .orElse(shares.get(0));
  }

  @Override
  public void urgent() {
    urgency = Urgency.URGENT;
  }

  /** What is refused discards the set, whatever the game's code does with the exception. */
  private <T> T checked(String change, Supplier<T> asked) {
    try {
      return asked.get();
    } catch (RuntimeException e) {
      throw shares.get(0).changes.refused(change, e);
    }
  }

  private Share of(OwnerSession session) {
    return shares.stream()
        .filter(share -> share.session.equals(session))
        .findFirst()
        .orElseThrow(
            () -> new GameQueueException("the session is none of this change set: " + session));
  }

  private Share ownersOf(GameRows.Given row) {
    return ownersOf(row.table(), row.table().ownerOf(row.values()));
  }

  private Share ownersOf(PartialRow row) {
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

  private Share ownersOf(Table table, OwnerId owner) {
    return shares.stream()
        .filter(share -> share.changes.owner().equals(owner))
        .findFirst()
        .orElseThrow(
            () ->
                new RowRefusedException(
                    ("%s: the row belongs to %s by its column %s, and the change set is of %s: give"
                            + " transact that owner's session too")
                        .formatted(table.name(), owner, table.ownerColumn().name(), owners())));
  }

  private Share ownersOf(Table table, Object... key) {
    int part = table.keyColumns().indexOf(table.ownerColumn());
    if (part >= 0) {
      return ownersOf(table, table.ownerOfValue(CanonicalRow.key(table, key)[part]));
    }
    if (shares.size() > 1) {
      throw new RowRefusedException(
          "%s: the primary key does not name the owner: say whose row it is, delete(session, ...)"
              .formatted(table.name()));
    }
    return shares.get(0);
  }

  private String owners() {
    return shares.stream()
        .map(share -> share.changes.owner().toString())
        .collect(Collectors.joining(", "));
  }
}
