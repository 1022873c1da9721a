package io.gameq.writer.explorer;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.durability.TrackerInSteps;
import io.gameq.healing.HealingPorts.RecordsToReplay;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A node's WAL, and what it knows of how far its records got; immutable.
 *
 * @param records in order; the sequence of the first is 1
 * @param trackers of each session that the node holds, by player
 * @param owed what the node is to replay
 * @param marks what it knows of its journal marks; not to be changed
 */
record NodeWal(
    List<Entry> records,
    TreeMap<Integer, TrackerInSteps> trackers,
    RecordsToReplay owed,
    SlotMarks marks) {
  /** No op: the rows were adopted. */
  static final int ADOPTED = -1;

  static final NodeWal EMPTY =
      new NodeWal(List.of(), new TreeMap<>(), RecordsToReplay.NOTHING, new SlotMarks(1));

  /** A record: the node's op that it is the commit of, or {@link #ADOPTED}. */
  record Entry(int op, List<WalRecord.Part> parts) {
    @Override
    public String toString() {
      return op
          + (op != ADOPTED
              ? ""
              : parts.stream()
                  .flatMap(part -> part.rows().stream())
                  .map(row -> " " + row.key() + "@" + row.version())
                  .toList()
                  .toString());
    }
  }

  /** Of adopted rows: later images of them tell of these. */
  String adoptedHandovers() {
    StringBuilder text = new StringBuilder();
    records.stream()
        .filter(record -> record.op == ADOPTED)
        .flatMap(record -> record.parts.stream())
        .forEach(
            part ->
                part.rows().stream()
                    .filter(row -> !RowHeader.handovers(row.image()).isEmpty())
                    .forEach(
                        row ->
                            text.append(part.session())
                                .append(row.key())
                                .append(RowHeader.handovers(row.image()))));
    return text.toString();
  }

  long newestSequence() {
    return records.size();
  }

  Entry record(long sequence) {
    return records.get((int) sequence - 1);
  }

  long sequenceOf(int op) {
    for (int i = 0; i < records.size(); i++) {
      if (records.get(i).op == op) {
        return i + 1L;
      }
    }
    throw new IllegalStateException("op " + op + " is not in the WAL");
  }

  NodeWal appended(int op, List<WalRecord.Part> parts) {
    List<Entry> more = new ArrayList<>(records);
    more.add(new Entry(op, parts));
    return new NodeWal(List.copyOf(more), trackers, owed, marks);
  }

  static WalRecord.Part part(String owner, String session, List<EncodedRow> rows) {
    return new WalRecord.Part(owner, session, rows);
  }

  static List<WalRecord.Part> parts(Commit commit) {
    List<WalRecord.Part> parts = new ArrayList<>();
    for (CommitPart part : commit.parts()) {
      parts.add(
          part(
              part.session().owner().encoded(),
              part.session().id().text(),
              part.rows().stream().map(ChangedRow::encoded).toList()));
    }
    return parts;
  }

  NodeWal track(int player, TrackerInSteps tracker) {
    TreeMap<Integer, TrackerInSteps> now = new TreeMap<>(trackers);
    now.put(player, tracker);
    return new NodeWal(records, now, owed, marks);
  }

  NodeWal track(int player, UnaryOperator<TrackerInSteps> change) {
    return track(player, change.apply(Objects.requireNonNull(trackers.get(player))));
  }

  /** Redis holds the commit. */
  NodeWal queued(Op.Commit op, Commit commit) {
    NodeWal now = this;
    for (int hold : op.parts().stream().map(Op.Part::hold).distinct().toList()) {
      now = now.track(hold, tracker -> tracker.queued(commit));
    }
    return now;
  }

  NodeWal owing(RecordsToReplay now) {
    return new NodeWal(records, trackers, now, marks);
  }

  NodeWal marks(SlotMarks now) {
    return new NodeWal(records, trackers, owed, now);
  }
}
