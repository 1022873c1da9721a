package io.gameq.lab.contender.redis;

import io.gameq.lab.workload.Actions;
import io.gameq.owner.OwnerId;
import java.util.ArrayList;
import java.util.List;

/**
 * What Redis is sent of actions, as gameq sends it. Immutable.
 *
 * @param namespace one of its own, whose keys the caller deletes
 * @param slots as the measured namespace has
 */
public record CommitBytes(RowEncoding encoding, String namespace, int slots) {
  /** Commits that are prepared take no more memory; then they are sent once more. */
  static final long MOST_BYTES = 256 << 20;

  /** The field of a WAL in a journal. */
  static final String WAL = "node-20260101T000000Z-01234567";

  private static final String SESSION =
      "0000000000000001-0123456789abcdef"; // as long as a real one

  RawCommit of(Actions action) {
    OwnerId owner = OwnerId.of("player:" + action.player());
    String slot = "{" + namespace + ":" + owner.slot(slots) + "}";
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
        slot + ":dirty:" + owner.encoded() + ":" + SESSION,
        rows,
        slot + ":due",
        owner.encoded() + ":" + SESSION);
  }

  /** The journal of the first slot. */
  String journal() {
    return "{" + namespace + ":0}:journal";
  }
}
