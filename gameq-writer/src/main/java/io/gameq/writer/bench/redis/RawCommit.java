package io.gameq.writer.bench.redis;

import io.gameq.OwnerId;
import io.gameq.writer.bench.workload.Actions;
import java.util.ArrayList;
import java.util.List;

/**
 * What Redis is sent of one commit, as gameq sends it; immutable.
 *
 * @param own the key that is read
 * @param dirty the hash that gets the rows
 * @param rows field, value, field, value ...
 * @param due the sorted set that gets {@code member}
 */
record RawCommit(String own, String dirty, List<byte[]> rows, String due, String member) {
  /** Of the next action. */
  static RawCommit next(Actions action, RowEncoding encoding, String namespace, int slots) {
    action.next();
    OwnerId owner = OwnerId.of("player:" + action.player());
    String slot = "{" + namespace + ":" + owner.slot(slots) + "}";
    String session = "0000000000000001-0123456789abcdef"; // as long as a real one
    List<byte[]> rows = new ArrayList<>(2 * action.rows());
    for (int i = 0; i < action.rows(); i++) {
      rows.add(encoding.key(action.player(), action.slot(i)));
      rows.add(
          action.isDelete(i)
              ? encoding.delete(action.player(), action.slot(i))
              : encoding.put(action.row(i)));
    }
    return new RawCommit(
        slot + ":own:" + owner.encoded(),
        slot + ":dirty:" + owner.encoded() + ":" + session,
        rows,
        slot + ":due",
        owner.encoded() + ":" + session);
  }

  /** The journal of a namespace's first slot, and the field of a WAL in it. */
  static String journal(String namespace) {
    return "{" + namespace + ":0}:journal";
  }

  static final String WAL = "node-20260101T000000Z-01234567";
}
