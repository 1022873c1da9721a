package io.gameq.writer.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.backlog.SharedSnapshot;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.SignFields;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.flush.WriterStats.BusyOwners;
import io.gameq.writer.status.WriterSigns.WriterSign;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One look at the nodes and writers of a game: those that run, and those that ended otherwise than
 * in order. Immutable.
 *
 * @param nodes by name
 * @param writers by name
 * @param clockBehindMillis by how much Redis' clock is behind what it was; 0 when it is not
 */
public record Processes(
    List<NodeStatus> nodes, List<WriterStatus> writers, long clockBehindMillis) {
  /** Two readings of one clock are no further apart. */
  private static final long CLOCK_WENT_BACK_MILLIS = 1_000;

  /** What is less may be a Redis that was slow to hear a sign of life. */
  private static final long CLOCK_IS_APART_MILLIS = 10_000;

  /** Of one name, so that it is no upgrade or a host that was restarted. */
  private static final int MANY_ENDS = 3;

  /** Of what a process says of itself, these are no durations: ms since 1970, 0 for never. */
  private static final Set<String> MOMENTS =
      Set.of("startedMillis", "healedMillis", "flushedMillis");

  private static final Comparator<NodeStatus> BY_NAME =
      Comparator.comparing(node -> node.sign().process().name());

  /** Nodes, as commands and console show them. */
  public static final RecordView<NodeStatus> NODES =
      view(new RecordView<NodeStatus>(), "NODE", of -> of.sign().process(), NodeStatus::id)
          .field("STATE", "state", NodeStatus::state, of -> of.state().text())
          .json("silentMillis", NodeStatus::silentMillis)
          .json("aheadMillis", NodeStatus::aheadMillis)
          .jsonOf(of -> shown(of.sign()))
          .json("toDo", NodeStatus::toDo)
          .column("UP", of -> of.isThere() ? ago(of.sign().process().startedMillis()) : "-")
          .column("SESSIONS", of -> Long.toString(of.sign().sessions().sessions()))
          .column("LOST", of -> Long.toString(of.sign().sessions().sessionsLost()))
          .column("WAITING", of -> Long.toString(of.sign().commits().waiting()))
          .column("JOURNALED", of -> Long.toString(of.sign().wal().journaled()))
          .column("WAL", of -> Shown.line("%,.1f MB", of.sign().wal().walBytes() / 1e6))
          .column("OLDEST", of -> duration(of.sign().wal().oldestMillis()))
          .column("HEALED", of -> ago(of.sign().healings().healedMillis()))
          .column("CONFLICTS", of -> Long.toString(of.sign().healings().conflicts()))
          .leavingOut("VERSION", "HOST", "CONFLICTS", "HEALED", "JOURNALED", "LOST", "UP", "ID");

  /** Writers, as commands and console show them. */
  public static final RecordView<WriterStatus> WRITERS =
      view(new RecordView<WriterStatus>(), "WRITER", of -> of.sign().process(), WriterStatus::id)
          .field("STATE", "state", WriterStatus::state)
          .json("silentMillis", WriterStatus::silentMillis)
          .json("aheadMillis", WriterStatus::aheadMillis)
          .jsonOf(of -> shown(of.sign()))
          .json("toDo", WriterStatus::toDo)
          .column("UP", of -> of.isGone() ? "-" : ago(of.sign().process().startedMillis()))
          .column("WORKERS", of -> Long.toString(of.sign().work().workers()))
          .column("CLAIMS", of -> Long.toString(of.sign().work().claims()))
          .column("FLUSHES", of -> Shown.line("%,d", of.sign().work().flushes()))
          .column("ROWS", of -> Shown.line("%,d", of.sign().work().rows()))
          .column("ROWS/S", of -> Shown.line("%,.0f", of.sign().work().rowsPerSecond()))
          .column("FLUSHED", of -> ago(of.sign().work().flushedMillis()))
          .column("MYSQL", of -> of.sign().outage() ? "away" : "there")
          .column(
              "PARKED", of -> of.sign().parked().isEmpty() ? "-" : Shown.text(of.sign().parked()))
          .leavingOut("VERSION", "HOST", "FLUSHES", "CLAIMS", "WORKERS", "UP", "ID");

  /**
   * Looks.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Processes of(RedisConnection redis, String namespace) {
    return SharedSigns.read(redis, namespace).processes();
  }

  private static final String SIGNS = "signs";

  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private static final long OLD_MILLIS = 5_000;

  /** A look at many takes longer: 40 processes a second, however many there are. */
  private static final int OFTEN = 200;

  /** One look for all writers of a namespace. */
  public static SharedSnapshot<Processes> shared(String namespace) {
    return new SharedSnapshot<>(
        namespace,
        "fleet",
        SIGNS,
        Processes::oldMillis,
        Processes::read,
        redis -> {
          SharedSigns seen = SharedSigns.read(redis, namespace);
          try {
            return new SharedSnapshot.OwnSnapshot<>(
                seen.processes(), Map.of(SIGNS, JSON.writeValueAsString(seen)));
          } catch (JsonProcessingException e) {
            throw new IllegalStateException("records of text and numbers are JSON", e);
          }
        });
  }

  private static long oldMillis(@Nullable Processes known) {
    int count = known == null ? 0 : known.nodes.size() + known.writers.size();
    return OLD_MILLIS * Math.max(1, count / OFTEN);
  }

  private static @Nullable Processes read(String text) {
    try {
      return JSON.readValue(text, SharedSigns.class).processes();
    } catch (JsonProcessingException | RuntimeException e) {
      return null;
    }
  }

  /** What Redis holds of the processes, as it is published. */
  private record SharedSigns(List<ProcessSign> signs, long clockBehindMillis) {
    static SharedSigns read(RedisConnection redis, String namespace) {
      ProcessSigns of = new ProcessSigns(namespace);
      return new SharedSigns(of.all(redis), of.clockBehindMillis(redis));
    }

    Processes processes() {
      return new Processes(
          signs.stream()
              .filter(of -> of.kind().equals(ProcessSigns.NODE))
              .map(NodeStatus::of)
              .sorted(BY_NAME)
              .toList(),
          signs.stream()
              .filter(of -> of.kind().equals(ProcessSigns.WRITER))
              .filter(of -> of.silentMillis() < WriterStatus.SHOWN_GONE_MILLIS)
              .map(WriterStatus::of)
              .sorted(Comparator.comparing(writer -> writer.sign().process().name()))
              .toList(),
          clockBehindMillis);
    }
  }

  /**
   * The same with the nodes that MySQL knows of and Redis does not, since it was emptied.
   *
   * @param started nodes that were started and not closed in order, by MySQL
   */
  public Processes with(List<NodeTable.Started> started) {
    Set<String> known = nodes.stream().map(NodeStatus::id).collect(Collectors.toSet());
    List<NodeStatus> all = new ArrayList<>(nodes);
    started.stream()
        .filter(of -> !known.contains(of.process()))
        .map(NodeStatus::unknown)
        .forEach(all::add);
    all.sort(BY_NAME);
    return new Processes(all, writers, clockBehindMillis);
  }

  /** How many nodes are in a state. */
  public long nodes(NodeStatus.NodeState state) {
    return nodes.stream().filter(of -> of.state() == state).count();
  }

  private Stream<WriterStatus> running() {
    return writers.stream().filter(of -> !of.isGone());
  }

  /** Rows a second that all writers write. */
  public double rowsPerSecond() {
    return running().mapToDouble(of -> of.sign().work().rowsPerSecond()).sum();
  }

  /** How many writers run. */
  public long writersThere() {
    return running().count();
  }

  /** Owners of which the writers that run write most: a line "rows owner" each. */
  String busiest() {
    return BusyOwners.together(running().map(of -> of.sign().work().busiest()).toList());
  }

  /** Tables that writers say take no rows now, and which writers. */
  public Map<String, String> parked() {
    Map<String, String> all = new TreeMap<>();
    running()
        .filter(of -> !of.sign().parked().isEmpty())
        .forEach(
            of -> {
              String who = "writer %s: its log says why".formatted(of.sign().process().name());
              for (String table : of.sign().parked().split(",", -1)) {
                all.putIfAbsent(table.strip(), who);
              }
            });
    return all;
  }

  /** Ids of the writers that run, reach MySQL and were not paused alone, in order. */
  public List<String> claiming() {
    return running()
        .filter(of -> !of.sign().outage() && !of.sign().phase().equals(WriterSign.QUIET))
        .map(WriterStatus::id)
        .sorted()
        .toList();
  }

  /** By how much clocks of processes that are there are away from Redis' at most, ms. */
  public long clocksApartMillis() {
    return Stream.concat(
            nodes.stream().filter(NodeStatus::isThere).map(NodeStatus::aheadMillis),
            running().map(WriterStatus::aheadMillis))
        .mapToLong(Math::abs)
        .max()
        .orElse(0);
  }

  private static <T> RecordView<T> view(
      RecordView<T> view,
      String heading,
      Function<T, ProcessIdentity> process,
      Function<T, String> id) {
    return view.column(heading, of -> Shown.text(process.apply(of).name()))
        .field("ID", "id", id)
        .column("HOST", of -> Shown.text(process.apply(of).host()))
        .column("VERSION", of -> version(process.apply(of)));
  }

  /** {@code 0.2.0 (1-2)}: the release, and which protocols it speaks. */
  private static String version(ProcessIdentity of) {
    return Shown.text(of.version()) + " (" + of.speaks().text() + ")";
  }

  private static String duration(long millis) {
    return millis == 0 ? "-" : Shown.duration(millis);
  }

  /** How long ago that was by this host's clock, if it was. */
  private static String ago(long millis) {
    long seconds = Math.max(0, System.currentTimeMillis() - millis) / 1_000;
    return millis == 0 ? "-" : seconds < 60 ? seconds + " s" : Shown.duration(seconds * 1_000);
  }

  /** What a process says of itself, for programs: moments are text. */
  private static Map<String, @Nullable Object> shown(Record sign) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    SignFields.values(sign)
        .forEach(
            (name, value) ->
                all.put(
                    MOMENTS.contains(name) ? name.replace("Millis", "At") : name,
                    MOMENTS.contains(name) ? RecordView.moment((long) value) : value));
    return all;
  }

  /** Adds what is to be done about a clock that is wrong. */
  static void clock(String who, long aheadMillis, List<String> all) {
    if (Math.abs(aheadMillis) > CLOCK_IS_APART_MILLIS) {
      all.add(
          "the clock of %s is %s %s Redis': set the one that is wrong by NTP; times in its logs and"
                  .formatted(
                      who,
                      Shown.duration(Math.abs(aheadMillis)),
                      aheadMillis > 0 ? "ahead of" : "behind")
              + " of messages that it schedules are wrong by as much");
    }
  }

  /** What is to be done about them, each in one line; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    if (clockBehindMillis > CLOCK_WENT_BACK_MILLIS) {
      all.add(
          ("Redis' clock is %s behind what it was: it went back, or another server took over."
                  + " Messages that were published meanwhile with a delay are late by as much;"
                  + " owners that were changed meanwhile open once it is 5 minutes behind at most")
              .formatted(Shown.duration(clockBehindMillis)));
    }
    nodes.forEach(of -> all.addAll(of.toDo()));
    writers.forEach(of -> all.addAll(of.toDo()));
    writers.stream()
        .filter(WriterStatus::isGone)
        .collect(
            Collectors.groupingBy(
                of -> of.sign().process().name(), TreeMap::new, Collectors.counting()))
        .forEach(
            (name, gone) -> {
              if (gone >= MANY_ENDS) {
                all.add(
                    "writer %s ended %s times within an hour, and not in order: its log says why"
                        .formatted(Shown.text(name), gone));
              }
            });
    return all;
  }

  /**
   * A node, by what it said last and by its heartbeat. Immutable.
   *
   * @param id of this start of it, 8 hex digits
   * @param silentMillis how long ago it said so
   * @param aheadMillis by how much its host's clock was ahead of Redis' then; negative when behind
   */
  public record NodeStatus(
      String id, long silentMillis, long aheadMillis, NodeState state, NodeSign sign) {
    /** A change that waits longer is not on its usual way. */
    private static final long LONG_MILLIS = 60_000;

    /** Beyond, its WAL may be full before anybody looks. */
    private static final double NEARLY_FULL = 0.8;

    /** How a node is. */
    public enum NodeState {
      RUNNING("running"),
      /** Redis may not know its sessions, nor all that they committed. */
      NOT_HEALED("not healed"),
      /** It takes no commits any more. */
      FAILED("failed"),
      /** It was closed before all was known to be in MySQL. */
      CLOSED("closed, WAL kept"),
      /** Its heartbeat ended without a close. */
      GONE("gone"),
      /** MySQL says that it was started and not closed; Redis knows nothing of it. */
      UNKNOWN("not known to Redis");

      private final String text;

      NodeState(String text) {
        this.text = text;
      }

      /** As operators read it. */
      public String text() {
        return text;
      }
    }

    static NodeStatus of(ProcessSign said) {
      NodeSign sign = SignFields.read(NodeSign.class, said.fields());
      return new NodeStatus(
          said.id(), said.silentMillis(), said.aheadMillis(), state(said, sign), sign);
    }

    /** One that Redis knows nothing of, which is emptied, or has not been told yet. */
    static NodeStatus unknown(NodeTable.Started of) {
      Map<String, String> fields = SignFields.of(of.identity());
      fields.put("walDirectory", of.walDirectory());
      NodeSign sign = SignFields.read(NodeSign.class, fields);
      return new NodeStatus(of.process(), of.startedMillisAgo(), 0, NodeState.UNKNOWN, sign);
    }

    private static NodeState state(ProcessSign said, NodeSign sign) {
      if (sign.phase().equals(NodeSign.CLOSED)) {
        return NodeState.CLOSED;
      }
      if (sign.phase().equals(NodeSign.FAILED) && said.isFresh()) { // it has no heartbeat any more
        return NodeState.FAILED;
      }
      return switch (said.beat()) {
        case NONE -> NodeState.GONE;
        case UNHEALED -> NodeState.NOT_HEALED;
        case HEALED -> NodeState.RUNNING;
      };
    }

    /** Whether its process is there, as far as is known. */
    public boolean isThere() {
      return state == NodeState.RUNNING
          || state == NodeState.NOT_HEALED
          || state == NodeState.FAILED;
    }

    /** What is to be done about it, each in one line; empty when all is well. */
    public List<String> toDo() {
      List<String> all = new ArrayList<>();
      String silent = Shown.duration(silentMillis);
      String restart =
          "start it again beside its WAL %s, or see 'gameq-recovery plan'"
              .formatted(Shown.text(sign.wal().walDirectory()));
      String ofState =
          switch (state) {
            case RUNNING -> null;
            case NOT_HEALED ->
                who() + " has not put back what this Redis may lack: does it reach MySQL?";
            case FAILED -> who() + " takes no commits any more: its log says why, restart it";
            case CLOSED -> who() + " was closed before all was known to be in MySQL: " + restart;
            case GONE ->
                "%s has been gone for %s and was not closed: %s".formatted(who(), silent, restart);
            case UNKNOWN ->
                ("Redis knows nothing of %s, which was started %s ago and not closed: unless it"
                        + " runs, %s")
                    .formatted(who(), silent, restart);
          };
      if (ofState != null) {
        all.add(ofState);
      }
      if (!isThere()) {
        return all;
      }
      if (silentMillis > LONG_MILLIS) {
        all.add(
            "%s is alive, and has said nothing else for %s: does it wait for MySQL?"
                .formatted(who(), silent));
      }
      if (sign.wal().oldestMillis() > LONG_MILLIS) {
        all.add(
            "the oldest change of %s has waited for %s, and its WAL grows: do writers reach MySQL?"
                .formatted(who(), Shown.duration(sign.wal().oldestMillis())));
      }
      double full = (double) sign.wal().walBytes() / sign.wal().walMaxBytes();
      if (sign.wal().walMaxBytes() > 0 && full > NEARLY_FULL) {
        all.add(
            Shown.line(
                "the WAL of %s takes %.0f %% of walMaxBytes: at 100 %% it refuses commits",
                who(), 100 * full));
      }
      clock(who(), aheadMillis, all);
      if (!sign.mysql()) {
        all.add(who() + " does not reach MySQL: nobody can log in there");
      }
      return all;
    }

    private String who() {
      return "node %s (%s on %s)"
          .formatted(Shown.text(sign.process().name()), id, Shown.text(sign.process().host()));
    }
  }

  /**
   * A writer, by what it said last. Immutable.
   *
   * @param id of this start of it, 8 hex digits
   * @param silentMillis how long ago it said so
   * @param aheadMillis by how much its host's clock was ahead of Redis' then; negative when behind
   * @param isGone whether that is too long ago for one that runs
   */
  public record WriterStatus(
      String id, long silentMillis, long aheadMillis, boolean isGone, WriterSign sign) {
    /** What it was doing is of use no longer than this; its claims have been taken over by then. */
    private static final long SHOWN_GONE_MILLIS = 3_600_000;

    static WriterStatus of(ProcessSign said) {
      return new WriterStatus(
          said.id(),
          said.silentMillis(),
          said.aheadMillis(),
          !said.isFresh(),
          SignFields.read(WriterSign.class, said.fields()));
    }

    /** What it is doing, as operators read it. */
    public String state() {
      return isGone ? "gone" : sign.phase();
    }

    /** What is to be done about it, each in one line; empty when all is well. */
    public List<String> toDo() {
      List<String> all = new ArrayList<>();
      if (isGone) {
        return all;
      }
      if (sign.outage()) {
        all.add(who() + " does not reach MySQL: rows wait in Redis");
      }
      if (!sign.parked().isEmpty()) {
        all.add(
            "%s cannot write to %s: its log says why".formatted(who(), Shown.text(sign.parked())));
      }
      clock(who(), aheadMillis, all);
      return all;
    }

    private String who() {
      return "writer " + Shown.text(sign.process().name());
    }
  }
}
