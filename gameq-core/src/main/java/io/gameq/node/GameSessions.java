package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.Urgency;
import io.gameq.commit.MessageCommits;
import io.gameq.durability.DurableTracker;
import io.gameq.node.StagedChanges.StagedChangeSet;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.topic.Transacted;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The sessions of a node and what is committed there: rows are checked, staged and committed in the
 * same way with servers and without. Thread-safe.
 */
public final class GameSessions {
  /** That one node takes at a time. */
  private static final int MOST_IDS = 1_000_000;

  final SessionCommits commits;
  private final SessionHost host;

  public GameSessions(SessionHost host) {
    this.host = host;
    this.commits = new SessionCommits(host);
  }

  /** A session of an owner whose rows were loaded; with those on their way to MySQL. */
  public OwnerSession open(DurableTracker tracker, OwnerView loaded, List<EncodedRow> adopted) {
    return new NodeSession(host, commits, new OpenOwner(host.rows(), tracker, loaded, adopted));
  }

  /** The table of {@link io.gameq.GameQueue#ids(String, int)}, which says what this throws. */
  public Table tableForIds(String name, int range) {
    host.requireOpen();
    Table table = host.rows().table(name);
    if (range < 1 || range > MOST_IDS) {
      throw new GameQueueException(
          String.format(
              Locale.ROOT, "a range of %d ids of %s: use 1 to %,d", range, name, MOST_IDS));
    }
    return table;
  }

  /** As {@link io.gameq.GameQueue#openAll}, each by {@code open}. */
  public CompletionStage<List<OpenResult>> openAll(
      Collection<String> owners,
      Function<String, CompletionStage<OwnerSession>> open,
      Consumer<OpenProgress> progress) {
    host.requireOpen();
    return new OwnerOpener.BulkOpener(owners, open, progress, host.callbacks()).start();
  }

  /** Commits messages. */
  public MessageCommits commits() {
    return commits;
  }

  /** As {@link io.gameq.GameQueue#commit(Urgency, OwnerSession...)}. */
  public CommitReceipt commit(Urgency urgency, OwnerSession... sessions) {
    host.requireOpen();
    return commits.commit(
        urgency, List.of(), Arrays.stream(sessions).map(StagedChanges::of).toList());
  }

  /** As {@link io.gameq.GameQueue#transactReturning}. */
  public <T> Transacted<T> transactReturning(
      Collection<? extends OwnerSession> sessions, Function<ChangeSet, T> changes) {
    host.requireOpen();
    if (sessions.isEmpty()) {
      throw new GameQueueException("a change set needs at least one session");
    }
    StagedChangeSet set = new StagedChangeSet(host, commits, sessions);
    T value = set.stage(changes);
    return new Transacted<>(value, commits.commitSet(set, List.of()));
  }

  /** As {@link io.gameq.GameQueue#send(String, Record...)}. */
  public CommitReceipt send(String owner, Record... sent) {
    GameRows rows = host.rows();
    OwnerId to = OwnerId.of(owner);
    return send(Arrays.stream(sent).map(row -> rows.sent(to, rows.given(row))).toList());
  }

  /** As {@link io.gameq.GameQueue#send(String, String, Map)}. */
  public CommitReceipt send(String owner, String table, Map<String, ?> columns) {
    GameRows rows = host.rows();
    return send(List.of(rows.sent(OwnerId.of(owner), rows.given(table, columns))));
  }

  private CommitReceipt send(List<GameRows.Sent> all) {
    Set<String> keys = new HashSet<>();
    for (GameRows.Sent row : all) {
      if (!keys.add(row.row().key())) {
        throw row.isTwice();
      }
    }
    host.requireOpen();
    return commits.send(all);
  }
}
