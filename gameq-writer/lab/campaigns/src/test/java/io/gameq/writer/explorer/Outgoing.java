package io.gameq.writer.explorer;

import io.gameq.change.ChangedRow;
import io.gameq.change.ChangedRow.RowMove;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.owner.SessionRef;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A commit on its way: the game's changes and the real images that carry them. */
final class Outgoing {
  private final NodeMemory node;
  private final int op;
  private final List<Op.Part> parts;

  /** By hold, those of inboxes last. */
  private final TreeMap<Integer, List<ChangedRow>> rows =
      new TreeMap<>(
          Comparator.comparing((Integer hold) -> hold < 0)
              .thenComparing(Comparator.naturalOrder()));

  private final List<ChangedRow> inOrder = new ArrayList<>();
  private final RowMove move = new RowMove();
  private final boolean lowerHalf;
  private long version;
  private long sequence;

  private Outgoing(NodeMemory node, int op, List<Op.Part> parts, boolean lowerHalf) {
    this.lowerHalf = lowerHalf;
    this.node = node;
    this.op = op;
    this.parts = parts;
  }

  static Outgoing of(
      Servers world, NodeMemory node, Op.Commit commit, boolean movesAsDeletes, int op) {
    List<Op.Part> parts = new ArrayList<>();
    for (Op.Part part : commit.parts()) {
      boolean delete = movesAsDeletes && part.kind() == MadeChange.Kind.MOVED;
      parts.add(
          delete
              ? new Op.Part(part.player(), part.row(), MadeChange.Kind.DELETE, part.player())
              : part);
    }
    Outgoing out =
        new Outgoing(node, op, parts, world.plant.has(Plant.Switch.HALVES_OF_TWO_VERSIONS));
    for (Op.Part part : parts) {
      ChangedRow row = out.told(world, part, out.row(world, part));
      out.inOrder.add(row);
      out.rows.computeIfAbsent(part.hold(), p -> new ArrayList<>()).add(row);
    }
    return out;
  }

  private ChangedRow row(Servers world, Op.Part part) {
    if (part.kind() == MadeChange.Kind.DELETE) {
      Object[] key = CanonicalRow.key(world.item, part.row());
      return new ChangedRow(
          RowKey.ofKey(world.item, key).text(), world.codec.encode(world.item, RowOp.DELETE, key));
    }
    Object[] values =
        CanonicalRow.of(
            world.item,
            Map.of("id", part.row(), "player_id", part.toPlayer(), "count", count()),
            Clock.systemUTC());
    RowOp kind = part.kind() == MadeChange.Kind.MOVED ? RowOp.MOVED : RowOp.PUT;
    return new ChangedRow(
        RowKey.of(world.item, values).text(), world.codec.encode(world.item, kind, values));
  }

  /**
   * With the handovers that the session knows of, as {@code PendingHandovers} has a row tell of
   * them.
   */
  private ChangedRow told(Servers world, Op.Part part, ChangedRow row) {
    SessionRef session = session(part.hold());
    List<Handover> handovers = new ArrayList<>();
    List<@Nullable RowMove> moves = new ArrayList<>();
    for (Handover one : node.handovers(session, row.key(), op)) {
      handovers.add(one);
      moves.add(null);
    }
    for (Op.Part other : parts) {
      boolean gives = part.kind() == MadeChange.Kind.MOVED && other.player() == part.toPlayer();
      boolean takes = other.kind() == MadeChange.Kind.MOVED && other.toPlayer() == part.player();
      if (!other.equals(part) && other.row() == part.row() && (gives || takes)) {
        SessionRef its = session(other.hold());
        handovers.add(new Handover(takes, its.owner(), its.id(), 0));
        moves.add(move);
      }
    }
    if (world.plant.has(Plant.Switch.RECEIVED_TELLS_NOTHING)
        && part.kind() != MadeChange.Kind.MOVED) {
      return row;
    }
    return handovers.isEmpty()
        ? row
        : row.as(RowHeader.withHandovers(row.image(), row.op(), handovers), moves);
  }

  private SessionRef session(int hold) {
    return Objects.requireNonNull(node.holds().get(hold)).ref();
  }

  /** The content of a commit's rows: its own. */
  private int count() {
    return node.name().charAt(0) * 100 + op;
  }

  /** Gives it its version and WAL sequence; returns the game's memory of it. */
  List<MadeChange> versioned(long next, long walSequence) {
    version = next;
    sequence = walSequence;
    commits(false);
    List<MadeChange> changes = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      Op.Part part = parts.get(i);
      changes.add(
          new MadeChange(
              node.name(),
              op,
              session(part.hold()).owner().encoded(),
              part.row(),
              part.kind(),
              part.toPlayer(),
              count(),
              inOrder.get(i).encoded().version(),
              MadeChange.Status.SENT));
    }
    return changes;
  }

  /** What is sent: one commit, or one for each session. */
  List<Commit> commits(boolean apart) {
    List<CommitPart> all = new ArrayList<>();
    rows.forEach((hold, changed) -> all.add(new CommitPart(session(hold), changed)));
    Commit together = commit(all);
    together.setVersion(version);
    if (lowerHalf) {
      inOrder.stream()
          .filter(row -> row.op() == RowOp.MOVED)
          .forEach(row -> RowHeader.setVersion(row.image(), version - 1));
    }
    return apart ? all.stream().map(part -> commit(List.of(part))).toList() : List.of(together);
  }

  private Commit commit(List<CommitPart> of) {
    Commit commit =
        new Commit(of, List.of(), move) {
          @Override
          public void queued() {}

          @Override
          public void failed(RuntimeException reason) {}
        };
    commit.setSequence(sequence);
    return commit;
  }
}
