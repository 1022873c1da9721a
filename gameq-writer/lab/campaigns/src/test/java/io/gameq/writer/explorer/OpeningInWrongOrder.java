package io.gameq.writer.explorer;

import io.gameq.MySqlException;
import io.gameq.node.OpenState;
import io.gameq.node.OpenState.AdoptedRows;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.SessionScripts;
import io.gameq.view.ViewInSteps;
import io.gameq.writer.explorer.NodeMemory.Attempt;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A planted open: the same operations in an order that the product does not have, up to the one
 * that sets the session open. Immutable.
 *
 * @param left the operations to come
 * @param snapshot what MySQL showed; null before it was read
 */
record OpeningInWrongOrder(
    List<Operation> left,
    @Nullable SessionId session,
    AdoptedRows rows,
    ViewInSteps.@Nullable Snapshot snapshot) {
  /** One operation of one server. */
  enum Operation {
    RAISE,
    TAKE,
    READ,
    MARK
  }

  /** Null for the order of the product. */
  static @Nullable OpeningInWrongOrder of(Plant plant) {
    List<Operation> order =
        plant.has(Switch.MYSQL_READ_FIRST)
            ? List.of(Operation.RAISE, Operation.READ, Operation.TAKE, Operation.MARK)
            : plant.has(Switch.EPOCH_AFTER_REDIS)
                ? List.of(Operation.TAKE, Operation.READ, Operation.RAISE, Operation.MARK)
                : plant.has(Switch.FENCED_AFTER_READING)
                    ? List.of(Operation.RAISE, Operation.TAKE, Operation.READ, Operation.MARK)
                    : List.of();
    AdoptedRows none = new AdoptedRows(List.of(), List.of(), List.of(), List.of());
    return order.isEmpty() ? null : new OpeningInWrongOrder(order, null, none, null);
  }

  private OpeningInWrongOrder then(
      SessionId now, AdoptedRows adopted, ViewInSteps.@Nullable Snapshot seen) {
    return new OpeningInWrongOrder(left.subList(1, left.size()), now, adopted, seen);
  }

  List<Step> steps(NodeOpening opening, State state, NodeMemory me, Attempt attempt) {
    String label = opening.label(attempt);
    return switch (left.get(0)) {
      case RAISE ->
          opening.isLocked(state, attempt)
              ? List.of()
              : List.of(
                  Step.mysql(
                      label + ": epoch into MySQL",
                      world -> raise(opening, world, state, me, attempt)));
      case TAKE ->
          List.of(
              Step.redis(
                  label + ": takes over in Redis",
                  world -> take(opening, world, state, me, attempt)));
      case READ ->
          List.of(Step.mysqlRead(label + ": reads MySQL", world -> read(world, me, attempt)));
      case MARK ->
          opening.isLocked(state, attempt)
              ? List.of()
              : List.of(
                  Step.mysql(
                      label + ": sets it open", world -> mark(opening, world, state, me, attempt)));
    };
  }

  NodeMemory raise(NodeOpening opening, Servers world, State state, NodeMemory me, Attempt attempt)
      throws Step.Blocked {
    OwnerId owner = Servers.owner(attempt.player());
    String nonce = session == null ? opening.nonce(me.attempts()) : session.nonce();
    SessionId raised;
    try {
      raised =
          world.sessions.raise(
              owner, nonce, opening.node().name(), session == null ? 0 : session.epoch());
    } catch (MySqlException e) {
      throw new Step.Blocked();
    }
    world.age(owner);
    Attempt now =
        new Attempt(
            attempt.player(),
            attempt.at(),
            session == null ? NodeOpening.connects(state, me) : attempt.by(),
            then(raised, rows, snapshot));
    return me.attempt(now, session == null ? me.attempts() + 1 : me.attempts());
  }

  private NodeMemory take(
      NodeOpening opening, Servers world, State state, NodeMemory me, Attempt attempt) {
    OwnerId owner = Servers.owner(attempt.player());
    SessionId taking = session;
    if (taking == null) { // the epoch is not in MySQL yet
      TableImage.DurableSession now = state.tables().sessions().get(owner.encoded());
      taking = new SessionId(now == null ? 1 : now.epoch() + 1, opening.nonce(me.attempts()));
    } else if (attempt.isCutOff(state.outages())) {
      return opening.failed(me);
    }
    if (!(SessionScripts.open(world.redis, world.slot, owner, taking, 0, false)
        instanceof SessionScripts.Opened opened)) {
      return opening.failed(me);
    }
    AdoptedRows adopted =
        new AdoptedRows(
            List.copyOf(opened.dirty()), List.copyOf(opened.claimed()), List.of(), List.of());
    NodeWal wal = me.wal();
    if (!adopted.all().isEmpty()) {
      wal =
          wal.appended(
              NodeWal.ADOPTED,
              List.of(NodeWal.part(owner.encoded(), taking.text(), adopted.all())));
      adopted =
          new AdoptedRows(
              adopted.dirty(),
              adopted.claimed(),
              java.util.Collections.nCopies(adopted.all().size(), wal.newestSequence()),
              List.of());
    }
    Attempt now =
        new Attempt(
            attempt.player(),
            attempt.at(),
            Reached.newest(state.outages()),
            then(taking, adopted, snapshot));
    return me.wal(wal).took(owner, taking).attempt(now, me.attempts());
  }

  private NodeMemory read(Servers world, NodeMemory me, Attempt attempt) {
    ViewInSteps.Snapshot seen =
        ViewInSteps.snapshot(
            world.reader, world.catalog, Servers.owner(attempt.player()), rows.all());
    return me.attempt(
        attempt.planted(then(Objects.requireNonNull(session), rows, seen)), me.attempts());
  }

  /** From here on the product's order is the only one. */
  private NodeMemory mark(
      NodeOpening opening, Servers world, State state, NodeMemory me, Attempt attempt)
      throws Step.Blocked {
    OwnerId owner = Servers.owner(attempt.player());
    SessionId raised = Objects.requireNonNull(session);
    try {
      if (!world.sessions.markOpen(owner, raised)) {
        return opening.failed(me);
      }
    } catch (MySqlException e) {
      throw new Step.Blocked();
    }
    ViewInSteps view =
        ViewInSteps.of(
            owner, world.catalog, world.codec, rows.all(), Objects.requireNonNull(snapshot));
    OpenState loaded =
        new OpenState.Loaded(
            NodeOpening.raised(attempt.at().attempt(), raised),
            opening.healed(world, attempt.by()),
            rows,
            view.view());
    return opening.loaded(
        world,
        state,
        me.attempt(new Attempt(attempt.player(), loaded, attempt.by(), null), me.attempts()));
  }
}
