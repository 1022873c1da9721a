package io.gameq.lab.contender.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.Workload;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What Redis is sent of actions: the commands of gameq's own {@link CommitGroup}, so that a limit
 * sends what gameq sends. Immutable.
 *
 * @param namespace one of its own, whose keys the caller deletes
 * @param slots as the measured namespace has
 */
public record CommitBytes(RowEncoding encoding, String namespace, int slots) {
  /** Commits of a group, as many as gameq's sender takes. */
  static final int COMMITS_PER_GROUP = 256;

  /** Of a group, as gameq's sender has it. */
  private static final int MOST_GROUP_BYTES = 1 << 20;

  /** Groups that are made ready take no more memory; then they are sent once more. */
  private static final long MOST_BYTES = 256 << 20;

  /** As long as a real one. */
  private static final byte[] WAL = "node-20260101T000000Z-01234567".getBytes(US_ASCII);

  /** As long as a real one. */
  private static final SessionId SESSION = SessionId.parse("0000000000000001-0123456789abcdef");

  /** One MULTI. */
  record Group(List<RedisCommand<byte[], byte[], ?>> commands, int commits) {}

  /** A commit of which nothing is told. */
  private static final class Untold extends Commit {
    Untold(CommitPart part) {
      super(List.of(part));
    }

    @Override
    public void queued() {}

    @Override
    public void failed(RuntimeException reason) {
      throw reason;
    }
  }

  /** Hands over the groups of one thread's actions, as many as memory is spent on. */
  void forEachGroup(Workload workload, long most, Consumer<Group> consumer) {
    Actions actions = workload.actions(0);
    Map<Long, SessionRef> sessions = new HashMap<>();
    SlotKeys[] keys = SlotKeys.all(namespace, slots);
    SlotMarks marks = new SlotMarks(slots);
    long dueMillis = System.currentTimeMillis();
    for (long bytes = 0; actions.seq() < most && bytes < MOST_BYTES; ) {
      List<Commit> commits = new ArrayList<>();
      int groupBytes = 0;
      while (commits.size() < COMMITS_PER_GROUP
          && groupBytes < MOST_GROUP_BYTES
          && actions.seq() < most) {
        actions.next();
        Commit commit = commit(actions, sessions);
        commits.add(commit);
        groupBytes += commit.bytes();
      }
      bytes += groupBytes;
      SentCommands sent = new SentCommands();
      var unused =
          CommitGroup.of(commits, new WalCall(WAL, Mode.FIRST, 0, dueMillis, keys), marks, false)
              .send(new RedisConnection(sent.connection()));
      consumer.accept(new Group(sent.commands(), commits.size()));
    }
  }

  private SessionRef session(long player) {
    OwnerId owner = OwnerId.of("player:" + player);
    return new SessionRef(owner, SESSION, owner.slot(slots));
  }

  private Commit commit(Actions action, Map<Long, SessionRef> sessions) {
    SessionRef session = sessions.computeIfAbsent(action.player(), this::session);
    List<ChangedRow> rows = new ArrayList<>(action.rows());
    for (int i = 0; i < action.rows(); i++) {
      rows.add(
          new ChangedRow(
              encoding.key(action.player(), action.slot(i)),
              action.isDelete(i)
                  ? encoding.delete(action.player(), action.slot(i))
                  : encoding.put(action.row(i))));
    }
    Commit commit = new Untold(new CommitPart(session, rows));
    commit.setVersion(action.seq());
    commit.setSequence(action.seq());
    return commit;
  }
}
