package io.gameq.writer.explorer;

import io.gameq.Row;
import io.gameq.redis.script.SessionScripts.RowNotices;
import io.gameq.redis.script.SessionScripts.RowNotices.SessionRow;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.TableRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A node tells its session of what was sent to its owner, as {@code SentRowNotices} does: reads
 * Redis, then MySQL, tells, has Redis forget it. Stateless.
 */
final class RowsHeard {
  private RowsHeard() {}

  static NodeMemory by(Servers world, NodeMemory me, int player) {
    NodeMemory.Hold hold = me.holds().get(player);
    if (hold == null) {
      return me;
    }
    String process = me.process();
    TreeMap<Integer, Integer> known = new TreeMap<>(hold.loaded());
    List<SessionRow> told = new ArrayList<>();
    long newest = me.lastVersion();
    for (SessionRow of : RowNotices.read(world.redis, world.slot, process)) {
      if (of.session().equals(hold.session().text())) {
        told.add(of);
        EncodedRow found = row(world, hold, of);
        if (found == null) {
          continue;
        }
        Row row = new TableRow(world.item, world.codec.decode(world.item, found.image()).values());
        int id = Objects.requireNonNull(row.getLong("id")).intValue();
        boolean isChanged = me.changes().stream().anyMatch(change -> change.row() == id);
        if (!isChanged) {
          known.put(id, Objects.requireNonNull(row.getLong("count")).intValue());
        }
        newest = Math.max(newest, found.version());
      }
    }
    if (!told.isEmpty()) {
      RowNotices.forget(world.redis, world.slot, process, told);
    }
    return me.hold(player, new NodeMemory.Hold(hold.ref(), hold.lost(), known))
        .changes(me.changes(), newest);
  }

  /** Null when it was set aside, or somebody has made something else of it since. */
  private static @Nullable EncodedRow row(Servers world, NodeMemory.Hold hold, SessionRow of) {
    List<EncodedRow> waiting = RowNotices.waiting(world.redis, world.slot, List.of(of));
    List<EncodedRow> found =
        waiting.isEmpty()
            ? world.views.stored(hold.ref().owner(), List.of(of.key())).stream()
                .filter(row -> row.version() == of.version())
                .toList()
            : waiting;
    return found.isEmpty() ? null : found.get(0);
  }
}
