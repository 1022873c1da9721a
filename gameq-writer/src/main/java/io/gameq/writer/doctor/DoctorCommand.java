package io.gameq.writer.doctor;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.redis.Finding;
import io.gameq.writer.redis.Finding.SlotEntry;
import io.gameq.writer.redis.SlotContents;
import io.gameq.writer.redis.SlotContents.ScanProgress;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code doctor}: finds what does not fit together in Redis, and mends it. */
@Command(
    name = "doctor",
    description =
        "Looks through all of a namespace in Redis for what does not fit together, such as rows"
            + " that nothing makes due. Nodes and writers may work meanwhile.",
    footer = {
      "",
      "What seems wrong is looked at again after some seconds, and counts when nobody has touched"
          + " it since. A repair deletes no row. Ends with 1 when something is left."
    })
public final class DoctorCommand extends AdminCommand {
  private static final int MOST_NAME = 100;

  private static final RecordView<Finding> VIEW =
      new RecordView<Finding>()
          .json("ailment", FindingKind::of)
          .json("slot", of -> of.thing().slot())
          .json("place", of -> of.thing().place())
          .json("name", of -> of.thing().name())
          .json("more", of -> of.thing().more())
          .json("repair", of -> FindingKind.of(of).repair());

  @Mixin private Confirmation confirmation = new Confirmation();
  @Mixin private RateOption rate = new RateOption();

  @Option(
      names = "--repair",
      description = "Mend what comes about without a hand in Redis; the audit log notes it.")
  private boolean repair;

  @Option(names = "--json", description = "One JSON object for each finding on a line, no more.")
  private boolean json;

  @Option(
      names = "--again-after",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description =
          "How long after the first look the second is (default: 5, at least 1): what both find is"
              + " not on its way.")
  private int againAfterSeconds;

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = out();
    Duration between = Duration.ofSeconds(Math.max(1, againAfterSeconds));
    CommandServers servers = servers();
    Doctor doctor = new Doctor(servers.slots(), servers.redis(), between, rate.perSecond());
    Consumer<ScanProgress> progress = RateOption.progress(err());
    Diagnosis left = doctor.examine(progress);
    Map<FindingKind, Integer> mended = Map.of();
    if (repair && left.count() > 0) {
      confirmation.require("Mend what can be of %s findings?".formatted(left.count()));
      mended = doctor.repair(left, servers.mysql(), actor());
      left = mended.isEmpty() ? left : doctor.examine(progress);
    }
    if (json) {
      mended.forEach(
          (of, count) ->
              out.println(RecordView.line(Map.of("ailment", Shown.lower(of), "mended", count))));
      left.found().values().forEach(VIEW.printer(out, true));
    } else {
      print(mended, left, out);
    }
    return left.count() == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  private void print(Map<FindingKind, Integer> mended, Diagnosis left, PrintWriter out) {
    List<List<String>> lines = new ArrayList<>();
    for (FindingKind kind : FindingKind.values()) {
      List<Finding> some = left.found().getOrDefault(kind, List.of());
      int ofMended = mended.getOrDefault(kind, 0);
      if (ofMended + some.size() > 0) {
        lines.add(
            List.of(
                kind.title(),
                Integer.toString(ofMended),
                Integer.toString(some.size()),
                some.isEmpty() ? "" : Shown.cut(kind.where(some.get(0)), MOST_NAME)));
      }
    }
    if (lines.isEmpty()) {
      out.println("nothing found");
      return;
    }
    new TextTable(out, "WHAT", "MENDED", "LEFT", "SUCH AS").print(lines);
    for (FindingKind of : left.found().keySet()) {
      out.println(
          "%n%s%n  comes about when %s%n  --repair %s"
              .formatted(of.title(), of.cause(), of.repair()));
    }
    if (left.isCut()) {
      out.printf(
          Locale.ROOT, "%nthere is more: at most %,d of a kind are told of%n", Diagnosis.MOST);
    }
    if (!repair && left.found().keySet().stream().anyMatch(FindingKind::isMended)) {
      out.println();
      out.println("'gameq-writer doctor --repair' mends some of this");
    }
  }

  /**
   * All that was found. Immutable.
   *
   * @param found by kind, in the order of their repair; at most {@link #MOST} of each
   * @param isCut whether there are more
   */
  public record Diagnosis(Map<FindingKind, List<Finding>> found, boolean isCut) {
    /** Of each kind: the next look finds the rest. */
    private static final int MOST = 5_000;

    public int count() {
      return found.values().stream().mapToInt(List::size).sum();
    }
  }

  /**
   * Looks for what does not fit together in Redis, while nodes and writers work. Each thing is
   * looked at by a script, as a whole; what seems wrong is looked at again after a while, and
   * counts when it is in the same state then. One thread.
   */
  public static final class Doctor {
    /** Of 256 slots some things each, so that a call is worth its round trip. */
    private static final int THINGS_TOGETHER = 5_000;

    private static final int MOST_NAMED = 5;

    private final Slots slots;
    private final ControlConnection redis;
    private final Duration betweenLooks;
    private final long perSecond;

    /**
     * With a connection that nothing else uses meanwhile.
     *
     * @param betweenLooks the time between the two looks
     * @param perSecond keys and entries that the first look takes at most, 0 for no limit: of each
     *     it asks some ten commands
     */
    public Doctor(Slots slots, ControlConnection redis, Duration betweenLooks, long perSecond) {
      this.slots = slots;
      this.redis = redis;
      this.betweenLooks = betweenLooks;
      this.perSecond = perSecond;
    }

    /**
     * Looks twice; changes nothing.
     *
     * @param progress told how far the first look is
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public Diagnosis examine(Consumer<ScanProgress> progress) throws InterruptedException {
      Scan first = new Scan(redis.get(), perSecond);
      first.all(progress);
      Map<FindingKind, List<Finding>> twice = new EnumMap<>(FindingKind.class);
      if (!first.found.isEmpty()) {
        Thread.sleep(betweenLooks.toMillis());
        Scan second = new Scan(redis.get(), 0);
        first.found.values().forEach(of -> second.add(of.stream().map(Finding::thing).toList()));
        second.finish();
        second.found.forEach(
            (kind, some) -> {
              some.retainAll(first.found.getOrDefault(kind, Set.of()));
              twice.put(
                  kind,
                  some.stream()
                      .sorted(
                          Comparator.comparing((Finding of) -> of.thing().slot())
                              .thenComparing(of -> of.thing().name()))
                      .toList());
            });
        twice.values().removeIf(List::isEmpty);
      }
      return new Diagnosis(twice, first.isCut);
    }

    /** One look at many things. */
    private final class Scan {
      private final RedisConnection connection;
      private final Map<FindingKind, Set<Finding>> found = new EnumMap<>(FindingKind.class);
      private final Set<SlotEntry> waiting = new HashSet<>();
      private final RateLimit pace;
      private boolean isCut;

      Scan(RedisConnection connection, long perSecond) {
        this.connection = connection;
        this.pace = new RateLimit(perSecond);
      }

      /** Looks at all keys of the namespace, and their entries. */
      void all(Consumer<ScanProgress> progress) {
        Set<SlotEntry> inflight = new LinkedHashSet<>();
        SlotContents.keys(
            connection,
            slots.namespace(),
            slots.count(),
            page -> {
              add(page);
              page.stream()
                  .filter(of -> of.place().equals("key") && of.name().startsWith("inflight:"))
                  .forEach(inflight::add);
            },
            of -> {
              pace.take(SlotContents.PAGE);
              progress.accept(of);
            });
        for (SlotKeys slot : slots.all()) {
          SlotContents.entries(connection, slot, this::add);
        }
        for (DefinedTopic of : DefinedTopic.all(connection, slots.namespace()).values()) {
          TopicDefinition topic = of.definition();
          for (int i = 0; i < Math.min(topic.slots(), slots.count()); i++) {
            SlotContents.messages(connection, slots.get(i), topic.topic(), this::add);
          }
        }
        for (SlotEntry of : inflight) {
          String writer = of.name().substring("inflight:".length());
          SlotContents.inflight(connection, slots.get(of.slot()), writer, this::add);
        }
        finish();
      }

      void add(Collection<SlotEntry> things) {
        pace.take(things.size());
        waiting.addAll(things);
        if (waiting.size() >= pace.burst(THINGS_TOGETHER)) {
          finish();
        }
      }

      /** Looks at what was added. */
      void finish() {
        List<SlotEntry> things = List.copyOf(waiting);
        waiting.clear();
        for (Finding symptom : Finding.among(connection, slots.namespace(), things)) {
          Set<Finding> some =
              found.computeIfAbsent(FindingKind.of(symptom), of -> new LinkedHashSet<>());
          if (some.size() < Diagnosis.MOST) {
            some.add(symptom);
          } else {
            isCut = true;
          }
        }
      }
    }

    /**
     * Mends what comes about without a hand in Redis, while nodes and writers work: by a script
     * that first looks whether it is still so, and deletes no row. The audit log has it before.
     * Returns how many of each were mended.
     *
     * @throws GameQueueException when a server does not answer: what was mended stays mended
     */
    public Map<FindingKind, Integer> repair(Diagnosis found, MySql mysql, Actor actor) {
      Map<FindingKind, Integer> mended = new EnumMap<>(FindingKind.class);
      found
          .found()
          .forEach(
              (kind, some) -> {
                if (kind.isMended()) {
                  AuditTable.add(mysql, actor, "doctor repair", kind.title(), names(some));
                  int count = (int) some.stream().filter(of -> mend(kind, of, mysql)).count();
                  if (count > 0) {
                    mended.put(kind, count);
                  }
                }
              });
      return mended;
    }

    private static String names(List<Finding> some) {
      return some.size()
          + ": "
          + some.stream()
              .limit(MOST_NAMED)
              .map(of -> FindingKind.of(of).where(of))
              .collect(Collectors.joining("; "));
    }

    private boolean mend(FindingKind kind, Finding symptom, MySql mysql) {
      if (kind != FindingKind.UNOWNED) {
        return redis.call(on -> symptom.mend(on, slots.namespace()));
      }
      OwnerId owner;
      try {
        owner = OwnerId.ofEncoded(symptom.thing().name());
      } catch (GameQueueException e) { // no owner's name
        return false;
      }
      CountingSessions durable = new OwnerTable(mysql).current(List.of(owner)).get(owner);
      SessionId lastOpen = durable == null ? null : durable.lastOpen();
      if (lastOpen == null || !redis.call(on -> symptom.mend(on, slots.namespace()))) {
        return false; // where nobody may write these rows, they stay, and are told of
      }
      boolean unused = // as a writer does that finds them; refused where a newer one owns
          redis.call(on -> SessionScripts.reassert(on, slots.of(owner), owner, lastOpen));
      return true;
    }
  }
}
