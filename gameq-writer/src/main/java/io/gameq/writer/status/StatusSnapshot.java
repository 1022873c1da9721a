package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.admin.TopicText;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.status.Processes.NodeStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the servers said when they were asked. Immutable.
 *
 * @param backlog null when Redis could not be asked
 * @param redisError why
 * @param processes null when Redis could not be asked
 * @param deadLetters -1 when MySQL could not be asked
 * @param mysqlError why
 * @param pauses what operators paused; nothing when MySQL could not be asked
 */
public record StatusSnapshot(
    String namespace,
    Instant at,
    @Nullable Backlog backlog,
    String redisError,
    @Nullable Processes processes,
    long deadLetters,
    String mysqlError,
    Pauses pauses) {
  /** Rows that wait longer are not being written. */
  private static final long LONG_MILLIS = 60_000;

  private static final double FULL = 0.9;

  private static final RecordView<TopicBacklog> TOPIC =
      new RecordView<TopicBacklog>()
          .json("topic", TopicBacklog::topic)
          .json("pending", of -> of.counts().pending())
          .json("due", of -> of.counts().dueLanes())
          .json("held", of -> of.counts().held())
          .json("retrying", of -> of.counts().retrying())
          .json("dead", of -> of.counts().dead())
          .json("overdueMillis", TopicBacklog::overdueMillis)
          .json("isPaused", TopicBacklog::isPaused);

  /** What waits, for programs and the console. */
  public static final RecordView<Backlog> BACKLOG =
      new RecordView<Backlog>()
          .json("redis", of -> of.redis().version())
          .json("redisUsedBytes", of -> of.redis().usedBytes())
          .json("redisMaxBytes", of -> of.redis().mostBytes())
          .json("redisPolicy", of -> of.redis().policy())
          .json("redisReplicas", of -> of.redis().replicas())
          .json("due", of -> of.sum(SlotBacklog::due))
          .json("ready", of -> of.sum(SlotBacklog::ready))
          .json("claimed", of -> of.sum(SlotBacklog::claimed))
          .json("lapsed", of -> of.sum(SlotBacklog::lapsed))
          .json("rows", Backlog::rows)
          .json("rowsAreEstimated", StatusSnapshot::isEstimate)
          .json("oldestMillis", Backlog::oldestAgeMillis)
          .json("staleSessions", of -> of.sum(SlotBacklog::stale))
          .json("closing", of -> of.sum(SlotBacklog::closing))
          .json("healing", of -> of.sum(SlotBacklog::healing))
          .json("foreignKeys", of -> of.sum(SlotBacklog::foreign))
          .json("topics", of -> of.topics().stream().map(TOPIC::json).toList());

  private static final RecordView<Processes> PROCESSES =
      new RecordView<Processes>()
          .json("nodesRunning", of -> of.nodes(NodeStatus.NodeState.RUNNING))
          .json("nodes", of -> of.nodes().size())
          .json("writersRunning", Processes::writersThere)
          .json("writers", of -> of.writers().size());

  static final RecordView<StatusSnapshot> VIEW =
      new RecordView<StatusSnapshot>()
          .json("namespace", StatusSnapshot::namespace)
          .json("at", StatusSnapshot::at)
          .jsonOf(of -> of.backlog == null ? Map.of() : BACKLOG.json(of.backlog))
          .jsonOf(of -> of.processes == null ? Map.of() : PROCESSES.json(of.processes))
          .jsonOf(of -> of.deadLetters < 0 ? Map.of() : Map.of("deadLetters", of.deadLetters))
          .json("pauses", of -> of.pauses.all().stream().map(Pauses::json).toList())
          .json("toDo", StatusSnapshot::toDo);

  /** Asks; a server that does not answer is something to show. */
  static StatusSnapshot of(CommandServers servers) {
    ControlConnection redis = servers.redis();
    long deadLetters = -1;
    String mysqlError = "";
    Pauses pauses = Pauses.NONE;
    Set<String> held = Set.of();
    List<NodeTable.Started> started = List.of();
    try {
      MySql mysql = servers.mysql();
      deadLetters = DeadLetters.count(mysql);
      pauses = Pauses.read(mysql);
      held = pauses.heldTables(mysql);
      started = new NodeTable(mysql).all();
    } catch (GameQueueException e) {
      mysqlError = ErrorLine.of(e);
    }
    Backlog backlog = null;
    Processes processes = null;
    String redisError = "";
    String namespace = servers.settings().namespace();
    Set<String> paused = held;
    try {
      backlog = redis.ask(of -> Backlog.of(of, servers.slots(), paused));
      processes = redis.ask(of -> Processes.of(of, namespace)).with(started);
    } catch (GameQueueException e) {
      redisError = ErrorLine.of(e);
    }
    return new StatusSnapshot(
        namespace, Instant.now(), backlog, redisError, processes, deadLetters, mysqlError, pauses);
  }

  static boolean isEstimate(Backlog backlog) {
    return backlog.sum(SlotBacklog::counted) < waitingOwners(backlog);
  }

  static long waitingOwners(Backlog backlog) {
    return backlog.sum(of -> of.due() + of.ready());
  }

  static String duration(long millis) {
    return millis == 0 ? "-" : Shown.duration(millis);
  }

  /** What is to be done, each in one line with its remedy; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    if (backlog == null) {
      all.add("cannot ask Redis: " + redisError);
    } else {
      ofRedis(backlog, all);
    }
    if (processes != null) {
      all.addAll(processes.toDo());
    } else if (backlog != null) {
      all.add("cannot ask Redis who runs: " + redisError);
    }
    if (deadLetters < 0) {
      all.add("cannot ask MySQL: " + mysqlError);
    } else if (deadLetters > 0) {
      all.add(
          "MySQL refused %s: see 'gameq-writer dead list'"
              .formatted(Shown.count(deadLetters, "row")));
    }
    return all;
  }

  private void ofRedis(Backlog backlog, List<String> all) {
    if (backlog.redis().mayEvict()) {
      all.add(
          "Redis has maxmemory-policy %s and may drop rows: set noeviction at once"
              .formatted(backlog.redis().policy()));
    }
    if (backlog.redis().fullness() > FULL) {
      all.add(
          Shown.line(
              "Redis has %.0f %% of its memory in use: at 100 %% it refuses commits",
              backlog.redis().fullness() * 100));
    }
    long oldestMillis = backlog.oldestAgeMillis(slot -> pauses.ofSlot(slot) == null);
    if (oldestMillis > LONG_MILLIS) { // where nothing is paused
      all.add(
          "the oldest row waits for %s: does a writer run, and does it reach MySQL?"
              .formatted(Shown.duration(oldestMillis)));
    }
    long stale = backlog.sum(SlotBacklog::stale);
    if (stale > 0) {
      all.add(
          "%s committed after ownership was lost: see 'gameq-writer stale list'"
              .formatted(Shown.count(stale, "session")));
    }
    long foreign = backlog.sum(SlotBacklog::foreign);
    if (foreign > 0) {
      all.add(
          "%s of gameq with somebody else's value: their owners are not written"
              .formatted(Shown.count(foreign, "key")));
    }
    for (TopicBacklog of : backlog.topics()) {
      TopicText.toDo(of.topic(), of.counts(), of.isPaused() ? 0 : of.overdueMillis(), all);
    }
    if (backlog.topicsLeft() > 0) {
      all.add(TopicText.unwatched(backlog.topicsLeft()));
    }
  }

  /**
   * One slot.
   *
   * @param pause why nothing of it is claimed: of the slot, or of all; null when it is not paused
   */
  public record SlotState(SlotBacklog waiting, @Nullable WriterPause pause) {
    /** In a table of those that wait for longest. */
    static final RecordView<SlotState> WITHOUT_PAUSE = view();

    static final RecordView<SlotState> VIEW = withPause(view());

    /** With what is rare. */
    public static final RecordView<SlotState> CONSOLE =
        withPause(
            view()
                .column("LEASES RAN OUT", of -> Long.toString(of.waiting().lapsed()))
                .column("STALE", of -> Long.toString(of.waiting().stale()))
                .column("HEALING", of -> Long.toString(of.waiting().healing()))
                .column("FOREIGN", of -> Long.toString(of.waiting().foreign())));

    public static final Comparator<SlotState> OLDEST_FIRST =
        Comparator.comparingLong((SlotState of) -> of.waiting().oldestAgeMillis()).reversed();

    private static RecordView<SlotState> withPause(RecordView<SlotState> view) {
      return view.field(
          "PAUSED",
          "pause",
          of -> of.pause() == null ? null : Pauses.json(of.pause()),
          of -> of.pause() == null ? "" : Pauses.why(of.pause()));
    }

    /** Whether an operator may want to know of it. */
    public boolean isToTell() {
      return pause != null
          || waiting.owners()
                  + waiting.stale()
                  + waiting.closing()
                  + waiting.healing()
                  + waiting.foreign()
              > 0;
    }

    private static RecordView<SlotState> view() {
      return new RecordView<SlotState>()
          .field("SLOT", "slot", of -> of.waiting().slot())
          .field("DUE", "due", of -> of.waiting().due())
          .json("overdue", of -> of.waiting().overdue())
          .field("READY", "ready", of -> of.waiting().ready())
          .field("CLAIMED", "claimed", of -> of.waiting().claimed())
          .json("lapsed", of -> of.waiting().lapsed())
          .field(
              "OLDEST",
              "oldestMillis",
              of -> of.waiting().oldestAgeMillis(),
              of -> duration(of.waiting().oldestAgeMillis()));
    }

    /** Every slot, in order. */
    public static List<SlotState> of(Backlog backlog, Pauses pauses) {
      return backlog.slots().stream()
          .map(waiting -> new SlotState(waiting, pauses.ofSlot(waiting.slot())))
          .toList();
    }
  }
}
