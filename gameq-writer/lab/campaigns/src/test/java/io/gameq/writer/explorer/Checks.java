package io.gameq.writer.explorer;

import io.gameq.redis.script.LookupScript;
import io.gameq.rows.EncodedRow;
import io.gameq.view.OwnerView;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.TableImage.Item;
import io.gameq.writer.explorer.TableImage.Tombstone;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What must hold; each check returns what is wrong, or null. Stateless. */
final class Checks {
  private Checks() {}

  // --- in every state

  static @Nullable String step(State before, State after) {
    for (ReadingActor.Memory reader : after.all(ReadingActor.Memory.class).toList()) {
      if (reader.problem() != null) {
        return reader.problem();
      }
    }
    String dethroned = dethroned(after);
    if (dethroned != null) {
      return dethroned;
    }
    if (before.tables().equals(after.tables())) {
      return null;
    }
    for (Item was : before.tables().items().values()) {
      if (after.tables().version(was.id()) < was.version()) {
        return "WENT BACK: " + was + " became " + after.tables().items().get(was.id());
      }
    }
    for (Tombstone was : before.tables().tombstones().values()) {
      if (after.tables().version(was.id()) < was.version()) {
        return "WENT BACK: " + was;
      }
    }
    for (Item item : after.tables().items().values()) {
      Tombstone tombstone = after.tables().tombstones().get(item.id());
      if (tombstone != null && tombstone.version() >= item.version()) {
        return "RESURRECTED: " + item + " was deleted in version " + tombstone.version();
      }
      String wrong = content(after, item);
      if (wrong != null) {
        return wrong;
      }
    }
    return null;
  }

  /**
   * A session is lost to a later one that Redis was told of, never to an open that failed before.
   */
  private static @Nullable String dethroned(State state) {
    for (NodeMemory node : state.all(NodeMemory.class).toList()) {
      for (NodeMemory.Hold hold : node.holds().values()) {
        String name = hold.ref().owner().encoded() + " ";
        String lost = name + hold.session().text();
        boolean hasSuccessor =
            state
                .all(NodeMemory.class)
                .flatMap(other -> other.taken().tailSet(lost, false).stream())
                .anyMatch(taken -> taken.startsWith(name));
        if (hold.lost() && !hasSuccessor) {
          return "DETHRONED: %s lost %s to an open that never reached Redis"
              .formatted(node.name(), lost);
        }
      }
    }
    return null;
  }

  private static @Nullable String content(State state, Item item) {
    List<MadeChange> of =
        state
            .changes()
            .filter(change -> change.row() == item.id() && change.version() == item.version())
            .toList();
    List<MadeChange> same =
        of.stream()
            .filter(c -> c.count() == item.count() && c.toPlayer() == item.player())
            .toList();
    if (same.isEmpty()) {
      return "MIXED: " + item + " does not hold what was committed as " + of;
    }
    return same.stream().allMatch(change -> change.status() == Status.REFUSED)
        ? "NEVER ACKED: " + item + " of " + of
        : null;
  }

  // --- when everything was flushed

  static @Nullable String drained(State state) {
    List<String> wrong =
        Stream.of(
                stranded(state),
                lost(state),
                halves(state),
                toldLost(state),
                reports(state),
                views(state))
            .filter(Objects::nonNull)
            .toList();
    return wrong.isEmpty() ? null : wrong.get(0);
  }

  private static @Nullable String stranded(State state) {
    List<String> waiting = waiting(state);
    return waiting.isEmpty() ? null : "STRANDED: nobody flushes " + waiting;
  }

  /** The keys of rows that wait to be flushed, without those of lost sessions that were parked. */
  static List<String> waiting(State state) {
    List<String> parked = state.redis().items("}:stale");
    return Stream.of("dirty:", "claimed:")
        .flatMap(word -> state.redis().names(word).stream())
        .filter(name -> parked.stream().noneMatch(key -> key.endsWith(name)))
        .toList();
  }

  private static @Nullable String lost(State state) {
    TreeMap<Integer, MadeChange> newest = new TreeMap<>();
    state
        .changes()
        .filter(change -> change.isAcknowledged() && !reported(state, change))
        .forEach(change -> newest.merge(change.row(), change, Checks::newer));
    for (MadeChange change : newest.values()) {
      long there = state.tables().version(change.row());
      boolean gone = !change.hides() && !state.tables().items().containsKey(change.row());
      if (there < change.version() || (there == change.version() && gone)) {
        return "LOST: " + change + ", MySQL has " + state.tables().items().get(change.row());
      }
    }
    return null;
  }

  /** What the game was told is lost for certain is not in MySQL. */
  private static @Nullable String toldLost(State state) {
    for (NodeMemory node : state.all(NodeMemory.class).toList()) {
      for (MadeChange change : node.changes()) {
        Item there = state.tables().items().get(change.row());
        if (there != null
            && there.version() == change.version()
            && change.isAcknowledged()
            && node.reportedForCertain(change)) {
          return "TOLD LOST: " + change + ", MySQL has " + there;
        }
      }
    }
    return null;
  }

  /** Of both halves of a move the one that has the row. */
  private static MadeChange newer(MadeChange a, MadeChange b) {
    return b.version() > a.version() || (b.version() == a.version() && a.hides()) ? b : a;
  }

  /** What is reported is so: MySQL does not hold it, and does not refuse a move that was kept. */
  private static @Nullable String reports(State state) {
    for (MadeChange change : state.changes().filter(MadeChange::isAcknowledged).toList()) {
      Item item = state.tables().items().get(change.row());
      boolean isThere =
          !change.hides()
              && item != null
              && item.player() == change.toPlayer()
              && item.count() == change.count();
      TableImage.Letter letter = letter(state, change);
      boolean told =
          (letter != null && letter.version() == change.version())
              || state.all(NodeMemory.class).anyMatch(node -> node.reportedForCertain(change));
      if (isThere && told) {
        return "REPORTED, and MySQL has it: %s; letters %s, told by nodes %s"
            .formatted(
                change,
                state.tables().letters(),
                state.all(NodeMemory.class).map(NodeMemory::conflicts).toList());
      }
      if (change.kind() == MadeChange.Kind.MOVED
          && state.outages() == 0
          && state.tables().letters().values().stream().anyMatch(l -> l.id() == change.row())) {
        return "REFUSED: " + change + " as " + state.tables().letters();
      }
    }
    return null;
  }

  private static TableImage.@Nullable Letter letter(State state, MadeChange change) {
    return state.tables().letters().get(change.row() + "," + change.baseOwner());
  }

  /** Whether a node, or a dead letter, told the game that this change is lost. */
  static boolean reported(State state, MadeChange change) {
    TableImage.Letter letter = letter(state, change);
    return (letter != null && letter.version() >= change.version())
        || (state.outages() > 0
            && state.all(NodeMemory.class).anyMatch(node -> node.reported(change)));
  }

  /** What the session that owns now believes is what MySQL holds. */
  private static @Nullable String views(State state) {
    for (NodeMemory node : state.all(NodeMemory.class).toList()) {
      for (Map.Entry<Integer, NodeMemory.Hold> e : node.holds().entrySet()) {
        int player = e.getKey();
        if (player < 0) { // an inbox is nobody's view
          continue;
        }
        NodeMemory.Hold hold = e.getValue();
        String owner = Servers.owner(player).encoded();
        List<MadeChange> own =
            node.changes().stream().filter(change -> change.owner().equals(owner)).toList();
        boolean judged =
            !node.dead()
                && !hold.lost()
                && hold.session().equals(state.tables().session(Servers.owner(player)).id())
                && own.stream().allMatch(c -> c.isAcknowledged() || c.status() == Status.REFUSED);
        if (!judged) {
          continue;
        }
        TreeMap<Integer, Integer> believes = new TreeMap<>(hold.loaded());
        for (MadeChange change : own) {
          if (change.isAcknowledged() && change.hides()) {
            believes.remove(change.row());
          } else if (change.isAcknowledged()) {
            believes.put(change.row(), change.count());
          }
        }
        TreeMap<Integer, Integer> holds = new TreeMap<>();
        state.tables().items().values().stream()
            .filter(item -> item.player() == player)
            .forEach(item -> holds.put(item.id(), item.count()));
        sentAndStillToTell(state, hold, owner).forEach(row -> holds.remove(row));
        for (MadeChange change : own) { // the game is told
          if (letter(state, change) != null) {
            believes.remove(change.row());
            holds.remove(change.row());
          }
        }
        if (!believes.equals(holds)) {
          return "OWNER VIEW: %s believes that player %d has %s, MySQL has %s"
              .formatted(node.name(), player, believes, holds);
        }
      }
    }
    return null;
  }

  /** Rows of which a session will be told. */
  private static List<Integer> sentAndStillToTell(State state, NodeMemory.Hold hold, String owner) {
    return state
        .changes()
        .filter(change -> change.kind() == MadeChange.Kind.SENT)
        .filter(change -> change.baseOwner().equals(owner))
        .filter(change -> !hold.loaded().containsKey(change.row()))
        .filter(
            change ->
                state
                    .redis()
                    .items("}:sent:" + hold.session().nonce().substring(0, 8))
                    .contains(owner + " " + hold.session().text() + " item:" + change.row()))
        .map(MadeChange::row)
        .toList();
  }

  /** A commit of own changes and rows that were sent took effect whole, or not at all. */
  private static @Nullable String halves(State state) {
    for (MadeChange sent : state.changes().filter(c -> c.kind() == MadeChange.Kind.SENT).toList()) {
      for (MadeChange other :
          state
              .changes()
              .filter(c -> c.node().equals(sent.node()) && c.commit() == sent.commit())
              .toList()) {
        boolean isThere = state.tables().version(sent.row()) >= sent.version();
        if (isThere != state.tables().version(other.row()) >= other.version()
            && !reported(state, sent)
            && !reported(state, other)) {
          return "HALF: " + sent + " and " + other;
        }
      }
    }
    return null;
  }

  // --- moves

  /** An item that moves is seen with exactly one of its owners, whatever is flushed. */
  static @Nullable String seenOnce(Servers world, int row) {
    int seen = 0;
    for (int player = 1; player <= 2; player++) {
      List<EncodedRow> unflushed =
          LookupScript.unflushed(world.redis, world.slot, Servers.owner(player));
      OwnerView view = world.view(Servers.owner(player), unflushed);
      seen += GameNodeActor.rows(world, view).containsKey(row) ? 1 : 0;
    }
    return seen == 1 ? null : (seen == 0 ? "DESTROYED" : "DUPLICATE") + " item " + row;
  }
}
