package io.gameq.node;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.commit.MessageCommits;
import io.gameq.message.MessageChange;
import io.gameq.rows.Table.Column;
import java.util.Map;
import java.util.stream.Collectors;

/** What tests in other packages need of this one and games do not. Stateless. */
public final class NodeAccess {
  private NodeAccess() {}

  /** The epoch that MySQL gave a session: rising with every open of its owner. */
  public static long epoch(OwnerSession session) {
    return ((NodeSession) session).ref().id().epoch();
  }

  /** The columns of a table as this node's game knows them: name to declaration. */
  public static Map<String, String> columns(GameQueue queue, String table) {
    return ((NodeQueue) queue)
        .node.rows.table(table).columns().stream()
            .collect(Collectors.toMap(Column::name, Column::declaration));
  }

  /** What commits messages of a node. */
  public static MessageCommits messages(GameQueue queue) {
    return ((NodeQueue) queue).sessions.commits;
  }

  /** Stages a change of a message in a session, as a publish within it does. */
  public static void stage(OwnerSession session, MessageChange change) {
    StagedChanges.of(session).stage(change);
  }

  /** A session as it stands in Redis keys and in gameq_discard. */
  public static String session(OwnerSession session) {
    return ((NodeSession) session).ref().text();
  }
}
