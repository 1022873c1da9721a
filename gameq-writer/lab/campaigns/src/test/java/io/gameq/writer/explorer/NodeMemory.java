package io.gameq.writer.explorer;

import io.gameq.durability.TrackerInSteps;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingStep;
import io.gameq.node.OpenState;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.LookupScript.LookupResult;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a game node remembers; immutable.
 *
 * @param op what the game does next
 * @param attempts attempts to open, so far
 * @param changes everything that it committed or tried to
 * @param conflicts what it reported as lost: owner, session and row, and the versions; begins with
 *     '?' when it said that it may come back
 * @param looked what it has seen in Redis, while it looks for what is lost
 * @param taken owner and session of each attempt to open that Redis knew of
 */
record NodeMemory(
    String name,
    TreeMap<Integer, Hold> holds,
    int op,
    @Nullable Attempt attempt,
    int attempts,
    boolean dead,
    long lastVersion,
    List<MadeChange> changes,
    Link link,
    NodeWal wal,
    TreeMap<String, TreeSet<Long>> conflicts,
    @Nullable LookupResult looked,
    TreeSet<String> taken)
    implements Local {

  /** A session that the node holds; whether it is lost stands here, not in the ref. */
  record Hold(SessionRef ref, boolean lost, TreeMap<Integer, Integer> loaded) {
    SessionId session() {
      return ref.id();
    }

    Hold asLost() {
      return new Hold(ref, true, loaded);
    }
  }

  /**
   * An open that is under way.
   *
   * @param by way of which primary
   * @param planted the steps of a wrong order that are left, and what they have found; null in the
   *     order of the product
   */
  record Attempt(int player, OpenState at, Reached by, @Nullable OpeningInWrongOrder planted) {
    /** Whether the connection that was taken for the attempt broke before Redis knew of it. */
    boolean isCutOff(int outages) {
      return by.outages() < outages;
    }

    Attempt next(OpenState now, Reached over) {
      return new Attempt(player, now, over, planted);
    }

    Attempt planted(@Nullable OpeningInWrongOrder now) {
      return new Attempt(player, at, by, now);
    }
  }

  /**
   * Where a node stands with its connection to Redis.
   *
   * @param step what its healing does next; {@code Healed} while it does not heal
   * @param by the primary that it leads, or led, to: as far as the node has noticed
   */
  record Link(Stage stage, HealingStep step, Reached by) {
    /** Whether the connection can be used. */
    enum Stage {
      UP,
      BROKEN,
      /** Connected again, and not healed yet. */
      HEALS
    }

    static final Link UP = new Link(Stage.UP, new HealingStep.Healed(), Reached.FIRST);

    Link broken() {
      return new Link(Stage.BROKEN, new HealingStep.Healed(), by);
    }

    Link healing(HealingStep next) {
      Stage now = next instanceof HealingStep.Healed ? Stage.UP : Stage.HEALS;
      return new Link(now, next, by);
    }

    /** Connected again, with nothing to heal. */
    Link connected(Reached to) {
      return new Link(Stage.UP, new HealingStep.Healed(), to);
    }

    int outages() {
      return by.outages();
    }
  }

  static NodeMemory of(String name) {
    return new NodeMemory(
        name,
        new TreeMap<>(),
        0,
        null,
        0,
        false,
        0,
        List.of(),
        Link.UP,
        NodeWal.EMPTY,
        new TreeMap<>(),
        null,
        new TreeSet<>());
  }

  @Override
  public String text() {
    return toString();
  }

  /** Whether its connection broke and it has not connected again since. */
  boolean isBroken(State state) {
    return link.stage == Link.Stage.BROKEN || link.outages() < state.outages();
  }

  /** The primaries that it is connected to. */
  Stream<Reached> reached() {
    return attempt == null ? Stream.of(link.by) : Stream.of(link.by, attempt.by);
  }

  /** Whether commits are sent: they are while it has not noticed that another primary counts. */
  boolean maySend(State state) {
    return isHealed(state) || (link.stage == Link.Stage.UP && link.by.isFormer(state));
  }

  /** Whether it has nothing to heal. */
  boolean isHealed(State state) {
    return link.stage == Link.Stage.UP && (holds.isEmpty() || link.outages() == state.outages());
  }

  boolean holdsAll(Op.Commit commit) {
    return commit.parts().stream()
        .allMatch(
            part -> {
              Hold hold = holds.get(part.hold());
              return part.kind() == MadeChange.Kind.SENT
                  || (hold != null
                      && !hold.lost
                      && (!commit.ofKnown() || hold.loaded.containsKey(part.row())));
            });
  }

  /** The sessions that own, as far as the node knows, by player. */
  SortedMap<Integer, SessionRef> owning() {
    TreeMap<Integer, SessionRef> owning = new TreeMap<>();
    holds.forEach(
        (player, hold) -> {
          if (!hold.lost) {
            owning.put(player, hold.ref);
          }
        });
    return owning;
  }

  /** Whether a change was reported as lost, by itself or by a later one of its session. */
  boolean reported(MadeChange change) {
    return Stream.of("", "?")
        .flatMap(as -> reportedAs(as, change))
        .anyMatch(version -> version >= change.version());
  }

  /** Whether this very change was reported, and not as one that may come back. */
  boolean reportedForCertain(MadeChange change) {
    return reportedAs("", change).anyMatch(version -> version == change.version());
  }

  private Stream<Long> reportedAs(String as, MadeChange change) {
    return conflicts.entrySet().stream()
        .filter(e -> e.getKey().startsWith(as + change.owner() + " "))
        .filter(e -> e.getKey().endsWith(":" + change.row()))
        .flatMap(e -> e.getValue().stream());
  }

  NodeMemory op(int next) {
    return new NodeMemory(
        name,
        holds,
        next,
        null,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        looked,
        taken);
  }

  NodeMemory attempt(@Nullable Attempt now, int tried) {
    return new NodeMemory(
        name,
        holds,
        op,
        now,
        tried,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        looked,
        taken);
  }

  NodeMemory died() {
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        true,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        looked,
        taken);
  }

  NodeMemory hold(int player, Hold hold) {
    TreeMap<Integer, Hold> now = new TreeMap<>(holds);
    now.put(player, hold);
    return new NodeMemory(
        name,
        now,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        looked,
        taken);
  }

  /** With the inboxes into which a commit puts rows. */
  NodeMemory withInboxes(Op.Commit commit) {
    NodeMemory now = this;
    for (Op.Part part : commit.sent()) {
      if (!now.holds.containsKey(part.hold())) {
        SessionRef inbox =
            new SessionRef(
                Servers.owner(part.player()).inbox(process()), SessionId.ofInbox(process()), 0);
        now =
            now.hold(part.hold(), new Hold(inbox, false, new TreeMap<>()))
                .wal(now.wal.track(part.hold(), TrackerInSteps.of(inbox)));
      }
    }
    return now;
  }

  /** What its sessions begin with. */
  String process() {
    return name.toLowerCase(Locale.ROOT).repeat(8);
  }

  NodeMemory lose(int player) {
    return hold(player, Objects.requireNonNull(holds.get(player)).asLost());
  }

  NodeMemory changes(List<MadeChange> now, long version) {
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        version,
        List.copyOf(now),
        link,
        wal,
        conflicts,
        looked,
        taken);
  }

  /** The game is told what became of a commit. */
  NodeMemory told(int commit, MadeChange.Status status) {
    return changes(
        changes.stream()
            .map(change -> change.commit() == commit ? change.with(status) : change)
            .toList(),
        lastVersion);
  }

  NodeMemory link(Link now) {
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        now,
        wal,
        conflicts,
        looked,
        taken);
  }

  /** Redis was seen to have lost something: heals, and asks no mark what that was. */
  NodeMemory doubtsRedis() {
    List<HeldSession> all = new ArrayList<>();
    holds.forEach(
        (player, hold) ->
            all.add(
                new HeldSession(
                    hold.ref, Objects.requireNonNull(wal.trackers().get(player)).unsettled())));
    return wal(wal.owing(wal.owed().plusLost(all, JournalMarks.none(1)))).link(link.broken());
  }

  NodeMemory wal(NodeWal now) {
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        now,
        conflicts,
        looked,
        taken);
  }

  /** Reports rows of a session that are lost for good, or may come back. */
  NodeMemory conflict(SessionRef session, Map<String, Long> rows, boolean mayComeBack) {
    TreeMap<String, TreeSet<Long>> more = new TreeMap<>();
    conflicts.forEach((key, versions) -> more.put(key, new TreeSet<>(versions)));
    rows.forEach(
        (key, version) ->
            more.computeIfAbsent(
                    (mayComeBack ? "?" : "")
                        + session.owner().encoded()
                        + " "
                        + session.id().text()
                        + " "
                        + key,
                    k -> new TreeSet<>())
                .add(version));
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        more,
        looked,
        taken);
  }

  /** Redis was told of a session that is being opened. */
  NodeMemory took(OwnerId owner, SessionId session) {
    TreeSet<String> more = new TreeSet<>(taken);
    more.add(owner.encoded() + " " + session.text());
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        looked,
        more);
  }

  NodeMemory looked(@Nullable LookupResult now) {
    return new NodeMemory(
        name,
        holds,
        op,
        attempt,
        attempts,
        dead,
        lastVersion,
        changes,
        link,
        wal,
        conflicts,
        now,
        taken);
  }

  NodeMemory hears(List<Notice> notices) {
    NodeMemory now = this;
    for (Map.Entry<Integer, Hold> held : holds.entrySet()) {
      SessionRef ref = held.getValue().ref;
      for (Notice notice : dead ? List.<Notice>of() : notices) {
        if (notice.owner().equals(ref.owner().encoded())
            && notice.session().equals(ref.id().text())) {
          now = now.wal(now.wal.track(held.getKey(), tracker -> tracker.durable(notice.version())));
        }
      }
    }
    return now;
  }

  /**
   * What a session knows of a row's handovers before a commit: what its last image told of, or an
   * adopted one.
   */
  List<Handover> handovers(SessionRef session, String key, int before) {
    List<Handover> known = List.of();
    for (NodeWal.Entry record : wal.records()) {
      if (record.op() != NodeWal.ADOPTED && (record.op() >= before || isRefused(record.op()))) {
        continue;
      }
      for (WalRecord.Part part : record.parts()) {
        for (EncodedRow row : part.rows()) {
          if (part.owner().equals(session.owner().encoded())
              && part.session().equals(session.id().text())
              && row.key().equals(key)) {
            known = RowHeader.handovers(row.image());
          }
        }
      }
    }
    return known;
  }

  private boolean isRefused(int commit) {
    return changes.stream()
        .anyMatch(
            change -> change.commit() == commit && change.status() == MadeChange.Status.REFUSED);
  }

  /** The first commit without an answer; -1 when there is none. */
  int firstUnanswered() {
    return changes.stream()
        .filter(change -> change.status() == MadeChange.Status.SENT)
        .mapToInt(MadeChange::commit)
        .min()
        .orElse(-1);
  }
}
