package io.gameq.writer.explorer;

import io.gameq.owner.OwnerId;
import io.gameq.redis.script.LookupScript;
import io.gameq.rows.EncodedRow;
import io.gameq.view.OwnerView;
import io.gameq.view.ViewInSteps;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads an owner without a session, in the two steps of {@code GameQueue.read}, and says when it
 * does not see what was acknowledged before it began, or sees less than before.
 */
record ReadingActor(int player, int reads, Plant plant) implements Actor {
  /**
   * What a reader remembers.
   *
   * @param snapshot of MySQL, where a plant wants that it is read first
   * @param floor of each row the newest version that was acknowledged when the read began
   * @param last of each row the version it saw last
   * @param outages how many of Redis it saw
   * @param problem what it must not have seen
   */
  record Memory(
      int done,
      boolean begun,
      List<EncodedRow> unflushed,
      ViewInSteps.@Nullable Snapshot snapshot,
      TreeMap<Integer, Long> floor,
      TreeMap<Integer, Long> last,
      int outages,
      @Nullable String problem)
      implements Local {
    @Override
    public String text() {
      return done
          + " "
          + begun
          + unflushed.stream().map(row -> row.key() + row.version()).toList()
          + snapshot
          + floor
          + last
          + outages;
    }
  }

  @Override
  public Memory start() {
    return new Memory(0, false, List.of(), null, new TreeMap<>(), new TreeMap<>(), 0, null);
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    if (me.done == reads) {
      return List.of();
    }
    boolean fromRedis = me.begun == plant.has(Switch.MYSQL_READ_FIRST);
    return List.of(
        fromRedis
            ? Step.redisRead("R reads Redis", world -> next(world, state, me, true))
            : Step.mysqlRead("R reads MySQL", world -> next(world, state, me, false)));
  }

  private Memory next(Servers world, State state, Memory me, boolean fromRedis) {
    OwnerId owner = Servers.owner(player);
    List<EncodedRow> unflushed =
        fromRedis
            ? List.copyOf(LookupScript.unflushed(world.redis, world.slot, owner))
            : me.unflushed;
    ViewInSteps.Snapshot snapshot =
        fromRedis || me.begun
            ? me.snapshot
            : ViewInSteps.snapshot(world.reader, world.catalog, owner, unflushed);
    if (!me.begun) {
      return new Memory(
          me.done,
          true,
          unflushed,
          snapshot,
          floor(state, owner),
          me.outages == state.outages() ? me.last : new TreeMap<>(),
          state.outages(),
          null);
    }
    OwnerView view =
        snapshot == null
            ? world.view(owner, unflushed)
            : ViewInSteps.of(owner, world.catalog, world.codec, unflushed, snapshot).view();
    return judged(state, me, owner, GameNodeActor.rows(world, view));
  }

  /**
   * What must be seen: all that was acknowledged, by sessions that own and whose node is healed.
   */
  private static TreeMap<Integer, Long> floor(State state, OwnerId owner) {
    TreeMap<Integer, Long> floor = new TreeMap<>();
    state
        .changes()
        .filter(change -> change.isAcknowledged() && change.isFor(owner))
        .filter(change -> state.outages() == 0 || isHealed(state, change))
        .forEach(change -> floor.merge(change.row(), change.version(), Math::max));
    return floor;
  }

  private static boolean isHealed(State state, MadeChange change) {
    return state
        .all(NodeMemory.class)
        .filter(node -> node.name().equals(change.node()) && node.isHealed(state))
        .flatMap(node -> node.owning().values().stream())
        .anyMatch(ref -> ref.owner().encoded().equals(change.owner()));
  }

  private static Memory judged(
      State state, Memory me, OwnerId owner, TreeMap<Integer, Integer> seen) {
    if (me.outages < state.outages()) { // of a read that Redis failed over in nothing is promised
      return new Memory(
          me.done + 1,
          false,
          List.of(),
          null,
          new TreeMap<>(),
          new TreeMap<>(),
          state.outages(),
          null);
    }
    List<MadeChange> known =
        state.changes().filter(c -> c.isFor(owner) && c.status() != Status.REFUSED).toList();
    TreeMap<Integer, Long> last = new TreeMap<>();
    String problem = null;
    for (int row : known.stream().map(MadeChange::row).distinct().toList()) {
      long least = Math.max(me.floor.getOrDefault(row, 0L), me.last.getOrDefault(row, 0L));
      Integer count = seen.get(row);
      if (count == null) {
        boolean gone =
            known.stream().anyMatch(c -> c.row() == row && c.hides() && c.version() >= least);
        problem = least == 0 || gone ? problem : "MISSED row " + row + " at version " + least;
      } else {
        long version =
            known.stream()
                .filter(c -> c.row() == row && c.count() == count)
                .mapToLong(MadeChange::version)
                .max()
                .orElse(-1);
        last.put(row, version);
        problem =
            version >= least
                ? problem
                : "READ version " + version + " of row " + row + " after " + least;
      }
    }
    boolean promised = state.outages() == 0 || !me.floor.isEmpty();
    return new Memory(
        me.done + 1,
        false,
        List.of(),
        null,
        new TreeMap<>(),
        last,
        me.outages,
        promised ? problem : null);
  }
}
