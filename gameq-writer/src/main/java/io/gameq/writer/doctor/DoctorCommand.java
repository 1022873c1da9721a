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
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.doctor.DoctorCommand.Repair.Repaired;
import io.gameq.writer.mysql.CommandServers.AgreedConfig;
import io.gameq.writer.mysql.CommandServers.CommandDatabase;
import io.gameq.writer.redis.SlotContents;
import io.gameq.writer.redis.SlotContents.Progress;
import io.gameq.writer.redis.Symptom;
import io.gameq.writer.redis.Symptom.Thing;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
public final class DoctorCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
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
          "How long after the first look the second is (default: 5, at least 1). Nodes give a sign"
              + " of life every 3 s.")
  private int againAfterSeconds;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, self);
    Slots slots = new Slots(settings.namespace(), settings.slots());
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      Doctor doctor =
          new Doctor(
              settings.namespace(),
              slots,
              redis,
              Duration.ofSeconds(Math.max(1, againAfterSeconds)),
              rate.perSecond());
      Consumer<Progress> progress = RateOption.progress(self.commandLine().getErr());
      Diagnosis found = doctor.examine(progress);
      Repaired repaired = new Repaired(Map.of(), found);
      if (repair && !found.findings().isEmpty()) {
        confirmation.require("Mend what can be of %s findings?".formatted(found.findings().size()));
        try (MySql mysql = CommandDatabase.open(settings.mysql(), "doctor")) {
          repaired =
              new Repair(settings.namespace(), slots, redis, mysql, doctor)
                  .run(found, Actor.here(), progress);
        }
      }
      if (json) {
        DoctorPage.json(repaired, out);
      } else {
        DoctorPage.print(repaired, repair, out);
      }
      return repaired.left().findings().isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** Prints what was found and mended. Stateless. */
  static final class DoctorPage {
    private static final int MOST_NAME = 100;

    private DoctorPage() {}

    static void print(Repaired repaired, boolean repair, PrintWriter out) {
      Map<Ailment, List<DoctorFinding>> left = repaired.left().byAilment();
      List<List<String>> lines = new ArrayList<>();
      for (Ailment ailment : Ailment.values()) {
        List<DoctorFinding> some = left.getOrDefault(ailment, List.of());
        int mended = repaired.mended().getOrDefault(ailment, 0);
        if (mended + some.size() > 0) {
          lines.add(
              List.of(
                  ailment.title(),
                  Integer.toString(mended),
                  Integer.toString(some.size()),
                  some.isEmpty() ? "" : Shown.cut(some.get(0).where(), MOST_NAME)));
        }
      }
      if (lines.isEmpty()) {
        out.println("nothing found");
        return;
      }
      new TextTable(out, "WHAT", "MENDED", "LEFT", "SUCH AS").print(lines);
      left.keySet()
          .forEach(
              of ->
                  out.println(
                      "%n%s%n  comes about when %s%n  --repair %s"
                          .formatted(of.title(), of.cause(), of.repair())));
      if (repaired.left().isCut()) {
        out.println();
        out.println(
            String.format(
                Locale.ROOT, "there is more: at most %,d of a kind are told of", Diagnosis.MOST));
      }
      if (!repair && left.keySet().stream().anyMatch(Ailment::isMended)) {
        out.println();
        out.println("'gameq-writer doctor --repair' mends some of this");
      }
      out.flush();
    }

    static void json(Repaired repaired, PrintWriter out) {
      repaired
          .mended()
          .forEach(
              (ailment, count) ->
                  out.println(JsonLine.of(Map.of("ailment", name(ailment), "mended", count))));
      for (DoctorFinding finding : repaired.left().findings()) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("ailment", name(finding.ailment()));
        all.put("slot", finding.thing().slot());
        all.put("place", finding.thing().place());
        all.put("name", finding.thing().name());
        all.put("more", finding.thing().more());
        all.put("repair", finding.ailment().repair());
        out.println(JsonLine.of(all));
      }
      out.flush();
    }

    private static String name(Ailment of) {
      return of.name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Mends what comes about without a hand in Redis, while nodes and writers work: by a script that
   * first looks whether it is still so, and deletes no row. The audit log has it before. One
   * thread.
   */
  public static final class Repair {
    private static final int MOST_NAMED = 5;

    private final String namespace;
    private final Slots slots;
    private final ControlConnection redis;
    private final MySql mysql;
    private final Doctor doctor;

    /** With connections that others close; the one to Redis is used by nothing else meanwhile. */
    public Repair(
        String namespace, Slots slots, ControlConnection redis, MySql mysql, Doctor doctor) {
      this.namespace = namespace;
      this.slots = slots;
      this.redis = redis;
      this.mysql = mysql;
      this.doctor = doctor;
    }

    /**
     * What became of it.
     *
     * @param mended how many of each
     * @param left what was found by the last look, and not mended
     */
    public record Repaired(Map<Ailment, Integer> mended, Diagnosis left) {}

    /**
     * Mends what was found, and looks again.
     *
     * @param progress told how far the look is
     * @throws GameQueueException when a server does not answer: what was mended stays mended
     */
    public Repaired run(Diagnosis found, Actor actor, Consumer<Progress> progress)
        throws InterruptedException {
      Map<Ailment, Integer> mended = new EnumMap<>(Ailment.class);
      for (Map.Entry<Ailment, List<DoctorFinding>> of : found.byAilment().entrySet()) {
        if (of.getKey().isMended()) {
          AuditTable.add(mysql, actor, "doctor repair", of.getKey().title(), names(of.getValue()));
          int some = (int) of.getValue().stream().filter(this::mend).count();
          if (some > 0) {
            mended.put(of.getKey(), some);
          }
        }
      }
      return new Repaired(mended, mended.isEmpty() ? found : doctor.examine(progress));
    }

    private static String names(List<DoctorFinding> some) {
      return some.size()
          + ": "
          + some.stream()
              .limit(MOST_NAMED)
              .map(DoctorFinding::where)
              .collect(Collectors.joining("; "));
    }

    private boolean mend(DoctorFinding finding) {
      SessionId durable = finding.ailment() == Ailment.UNOWNED ? lastOpen(finding) : null;
      if (finding.ailment() == Ailment.UNOWNED && durable == null) {
        return false; // nobody may write these rows: they stay, and are told of
      }
      boolean mended = redis.call(of -> finding.symptom().mend(of, namespace));
      if (mended && durable != null) {
        OwnerId owner = finding.owner();
        boolean unused = // as a writer does that finds them; refused where a newer one owns
            redis.call(of -> SessionScripts.reassert(of, slots.of(owner), owner, durable));
      }
      return mended;
    }

    /** The last session of the owner that was open, by MySQL. */
    private @Nullable SessionId lastOpen(DoctorFinding finding) {
      OwnerId owner;
      try {
        owner = finding.owner();
      } catch (GameQueueException e) { // no owner's name
        return null;
      }
      CountingSessions sessions = new OwnerTable(mysql).current(List.of(owner)).get(owner);
      return sessions == null ? null : sessions.lastOpen();
    }
  }

  /**
   * Looks for what does not fit together in Redis, while nodes and writers work. Each thing is
   * looked at by a script, as a whole; what seems wrong is looked at again after a while, and
   * counts when it is in the same state then. Changes nothing. One thread.
   */
  public static final class Doctor {
    /** Of 256 slots some things each, so that a call is worth its round trip. */
    private static final int THINGS_TOGETHER = 5_000;

    private final String namespace;
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
    public Doctor(
        String namespace,
        Slots slots,
        ControlConnection redis,
        Duration betweenLooks,
        long perSecond) {
      this.namespace = namespace;
      this.slots = slots;
      this.redis = redis;
      this.betweenLooks = betweenLooks;
      this.perSecond = perSecond;
    }

    /**
     * Looks twice.
     *
     * @param progress told how far the first look is
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public Diagnosis examine(Consumer<Progress> progress) throws InterruptedException {
      Look first = firstLook(progress);
      if (first.found.isEmpty()) {
        return new Diagnosis(List.of(), false);
      }
      Thread.sleep(betweenLooks.toMillis());
      Look second = new Look(redis.get(), 0);
      second.add(first.found.stream().map(DoctorFinding::thing).toList());
      second.finish();
      List<DoctorFinding> twice =
          first.found.stream()
              .filter(second.found::contains)
              .sorted(
                  Comparator.comparing(DoctorFinding::ailment)
                      .thenComparing(of -> of.thing().slot())
                      .thenComparing(of -> of.thing().name()))
              .toList();
      return new Diagnosis(twice, first.isCut);
    }

    private Look firstLook(Consumer<Progress> progress) {
      RedisConnection connection = redis.get();
      Look look = new Look(connection, perSecond);
      Set<Thing> inflight = new LinkedHashSet<>();
      SlotContents.keys(
          connection,
          namespace,
          slots.count(),
          page -> {
            look.add(page);
            page.stream()
                .filter(of -> of.place().equals("key") && of.name().startsWith("inflight:"))
                .forEach(inflight::add);
          },
          of -> {
            look.pace.take(SlotContents.PAGE);
            progress.accept(of);
          });
      for (int i = 0; i < slots.count(); i++) {
        SlotContents.entries(connection, slots.get(i), look::add);
      }
      for (DefinedTopic of : DefinedTopic.all(connection, namespace).values()) {
        TopicDefinition topic = of.definition();
        for (int i = 0; i < Math.min(topic.slots(), slots.count()); i++) {
          SlotContents.messages(connection, slots.get(i), topic.topic(), look::add);
        }
      }
      for (Thing of : inflight) {
        String writer = of.name().substring("inflight:".length());
        SlotContents.inflight(connection, slots.get(of.slot()), writer, look::add);
      }
      look.finish();
      return look;
    }

    /** One look at many things. */
    private final class Look {
      private final RedisConnection connection;
      private final Map<String, Boolean> alive = new HashMap<>();
      private final Map<Ailment, Integer> counts = new EnumMap<>(Ailment.class);
      private final Set<DoctorFinding> found = new LinkedHashSet<>();
      private final Set<Thing> waiting = new HashSet<>();
      private final RateLimit pace;
      private boolean isCut;

      Look(RedisConnection connection, long perSecond) {
        this.connection = connection;
        this.pace = new RateLimit(perSecond);
      }

      void add(Collection<Thing> things) {
        pace.take(things.size());
        waiting.addAll(things);
        if (waiting.size() >= pace.burst(THINGS_TOGETHER)) {
          finish();
        }
      }

      /** Looks at what was added. */
      void finish() {
        List<Thing> things = new ArrayList<>(waiting);
        waiting.clear();
        for (Symptom symptom : Symptom.among(connection, namespace, things)) {
          DoctorFinding finding = DoctorFinding.of(symptom);
          if (finding.ailment().isOfProcess() && isAlive(finding.process())) {
            continue;
          }
          if (counts.merge(finding.ailment(), 1, Integer::sum) <= Diagnosis.MOST) {
            found.add(finding);
          } else {
            isCut = true;
          }
        }
      }

      private boolean isAlive(String process) {
        return alive.computeIfAbsent(
            process, of -> NodeSigns.aliveNode(connection, namespace, of) != null);
      }
    }
  }

  /**
   * All that was found. Immutable.
   *
   * @param findings by ailment, in the order in which they are mended; at most {@link #MOST} of
   *     each
   * @param isCut whether there are more
   */
  public record Diagnosis(List<DoctorFinding> findings, boolean isCut) {
    /** Of each ailment: what is left comes with the next look. */
    public static final int MOST = 5_000;

    public Diagnosis {
      findings = List.copyOf(findings);
    }

    public Map<Ailment, List<DoctorFinding>> byAilment() {
      Map<Ailment, List<DoctorFinding>> all = new EnumMap<>(Ailment.class);
      for (Ailment ailment : Ailment.values()) {
        List<DoctorFinding> some = findings.stream().filter(of -> of.ailment() == ailment).toList();
        if (!some.isEmpty()) {
          all.put(ailment, some);
        }
      }
      return all;
    }
  }

  /** Something that was found wrong. Immutable; the same twice when nobody has touched it since. */
  record DoctorFinding(Ailment ailment, Symptom symptom) {
    static DoctorFinding of(Symptom symptom) {
      return new DoctorFinding(Ailment.of(symptom.kind()), symptom);
    }

    public Thing thing() {
      return symptom.thing();
    }

    /** The process of a session or journal mark, 8 hex digits. */
    String process() {
      return ailment == Ailment.OPEN
          ? NodeSigns.process(SessionId.parse(symptom.state()))
          : NodeSigns.processOfWal(thing().name());
    }

    /** The owner that it is about, where its name is one. */
    OwnerId owner() {
      return OwnerId.ofEncoded(thing().name());
    }

    /** Where it is, and what is there, for a person. */
    public String where() {
      return switch (ailment) {
        case WRONG_TYPE, THERE -> thing() + " (" + symptom.state() + ")";
        case OPEN -> thing() + " (process " + process() + ")";
        default -> thing().toString();
      };
    }
  }
}
