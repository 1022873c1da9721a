package io.gameq.writer.doctor;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.redis.SlotContents.ScanProgress;
import io.gameq.writer.redis.SlotContents.SlotSurvey;
import io.gameq.writer.redis.SlotContents.SlotSurvey.SessionEntry;
import io.gameq.writer.status.Processes;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code reslot}: another number of slots. */
@Command(
    name = "reslot",
    description =
        "Gives the database another number of slots, while no node and no writer runs and Redis has"
            + " no rows; refuses otherwise, and says what stands against it.",
    footer = {
      "",
      "Afterwards set the new number as 'slots' in gameq.yaml of all writers and in the"
          + " configuration of all nodes, and start them. When it was cut short, run it again."
    })
public final class ReslotCommand extends AdminCommand {
  private static final int MOST_SLOTS = 1_024;

  @Mixin private Confirmation confirmation = new Confirmation();
  @Mixin private RateOption rate = new RateOption();

  @Parameters(paramLabel = "SLOTS", description = "A power of two, from 1 to 1024.")
  private int slots;

  @Option(names = "--dry-run", description = "Only say whether it could be done now.")
  private boolean dryRun;

  @Option(
      names = "--end-sessions",
      description =
          "End sessions that were not closed. Should a node of one come back, what only its WAL has"
              + " is reported as a conflict.")
  private boolean endsSessions;

  @Override
  public Integer call() throws InterruptedException {
    if (slots < 1 || slots > MOST_SLOTS || Integer.bitCount(slots) != 1) {
      throw new GameQueueException("slots is a power of two, from 1 to " + MOST_SLOTS);
    }
    PrintWriter out = out();
    WriterConfig settings = config().read();
    try (MySql mysql = CommandServers.open(settings.mysql(), "reslot", 1);
        RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis =
            new ControlConnection(new PrimaryConnector(connector, new TermTable(mysql)))) {
      Supplier<Consumer<ScanProgress>> scans = () -> rate.scan(err());
      SlotChange change =
          new SlotChange(settings.namespace(), redis, mysql, SlotChange.LIFE, scans);
      int from = Settings.slots(mysql);
      if (from != settings.slots() && from != slots) {
        throw new GameQueueException(
            "gameq.yaml has %s slots, the database has %s: is it the right file?"
                .formatted(settings.slots(), from));
      }
      List<String> obstacles = change.obstacles(endsSessions);
      if (!obstacles.isEmpty()) {
        obstacles.forEach(out::println);
        out.println("nothing was changed: the database has %s slots".formatted(from));
        return ExitCodes.FOUND_SOMETHING;
      }
      if (dryRun) {
        out.println("nothing stands against it: from %s slots to %s".formatted(from, slots));
        return ExitCodes.OK;
      }
      confirmation.require("Change %s slots to %s?".formatted(from, slots));
      Consumer<String> progress =
          text -> {
            out.println(text);
            out.flush();
          };
      SlotChange.ReslotReport done = change.run(slots, endsSessions, actor(), progress);
      out.println(
          "%s moved, %s ended that were not closed"
              .formatted(
                  Shown.count(done.moved(), "closed session"),
                  Shown.count(done.ended(), "session")));
      if (done.left().count() > 0) {
        out.println(
            "left where they are: %s (%s)"
                .formatted(Shown.count(done.left().count(), "key"), done.left()));
      }
      out.println(
          ("set slots to %s in gameq.yaml of all writers and in the configuration of all nodes,"
                  + " then start them")
              .formatted(slots));
      return ExitCodes.OK;
    }
  }

  /**
   * Gives a drained namespace another number of slots. One thread.
   *
   * <p>No node with the old number may go on unnoticed. One that starts afterwards refuses, by the
   * setting. One that is alive gives signs, and is waited for before anything is moved. One that
   * was stopped for so long that it gave none comes back to a term that has moved on: it opens
   * nothing, flushes nothing, and connects to Redis once more, which its number of slots forbids;
   * its sessions are closed, or ended here in MySQL, so that it replays nothing either.
   */
  public static final class SlotChange {
    /** A node gives a sign every three seconds, a writer too. */
    public static final Duration LIFE = Duration.ofSeconds(NodeSigns.LIFE_SECONDS);

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private final String namespace;
    private final ControlConnection redis;
    private final MySql mysql;
    private final TermTable terms;
    private final Duration life;
    private final Supplier<Consumer<ScanProgress>> scans;

    /**
     * With connections that others close.
     *
     * @param life for which nobody may give a sign of life
     * @param scans gives, for each look at all keys, what is told of its pages, and may hold it
     *     back
     */
    public SlotChange(
        String namespace,
        ControlConnection redis,
        MySql mysql,
        Duration life,
        Supplier<Consumer<ScanProgress>> scans) {
      this.namespace = namespace;
      this.redis = redis;
      this.mysql = mysql;
      this.terms = new TermTable(mysql);
      this.life = life;
      this.scans = scans;
    }

    /**
     * What was done.
     *
     * @param moved closed sessions that Redis remembers in another slot now
     * @param ended sessions that were not closed
     * @param left keys that gameq does not use, which stay where they are
     */
    public record ReslotReport(int moved, int ended, SlotSurvey.Tally left) {}

    /** Whether the database had {@code from}. */
    private boolean moveSlots(int from, int to) {
      return Settings.replace(mysql, "slots", Integer.toString(from), Integer.toString(to));
    }

    /**
     * Why it cannot be done now, each with its remedy; empty when it can.
     *
     * @param endsSessions whether sessions that nodes left open may be ended
     * @throws GameQueueException when a server does not answer
     */
    public List<String> obstacles(boolean endsSessions) {
      List<String> obstacles = new ArrayList<>();
      if (isAnyAlive(life)) {
        obstacles.add(
            ("a node or writer gave a sign of life less than %s s ago: close all nodes, stop all"
                    + " writers, then wait so long ('gameq-writer nodes', 'gameq-writer writers')")
                .formatted(life.toSeconds()));
      }
      obstacles.addAll(ofNodes());
      obstacles.addAll(ofKeys(survey(), endsSessions));
      return obstacles;
    }

    /** Of what their WALs alone have, nothing can be replayed afterwards. */
    private List<String> ofNodes() {
      SlotSurvey.Tally nodes = new SlotSurvey.Tally();
      redis.ask(of -> Processes.of(of, namespace)).with(new NodeTable(mysql).all()).nodes().stream()
          .map(of -> of.sign().process().name() + " " + of.id())
          .forEach(nodes::add);
      if (nodes.count() == 0) {
        return List.of();
      }
      return List.of(
          ("%s not closed with everything in MySQL (%s): start them again and close them, or replay"
                  + " their WALs with gameq-recovery, then 'gameq-writer nodes --forget'")
              .formatted(Shown.count(nodes.count(), "node"), nodes));
    }

    /** Nodes give signs in Redis and in MySQL every three seconds, writers in Redis. */
    private boolean isAnyAlive(Duration within) {
      long millis = within.toMillis();
      Term term = terms.current();
      return (term.number() > 0 && term.silentMillis() < millis)
          || redis.ask(
              of ->
                  NodeSigns.anyLately(of, namespace)
                      || new ProcessSigns(namespace)
                          .all(of).stream().anyMatch(sign -> sign.silentMillis() < millis));
    }

    private SlotSurvey survey() {
      return redis.ask(of -> SlotSurvey.of(of, namespace, some -> {}, scans.get()));
    }

    private static List<String> ofKeys(SlotSurvey survey, boolean endsSessions) {
      List<String> obstacles = new ArrayList<>();
      if (survey.waiting().count() > 0) {
        obstacles.add(
            ("%s of rows on their way (%s): have writers empty Redis ('gameq-writer flush --all"
                    + " --wait'), see 'stale list' and 'doctor', then stop the writers")
                .formatted(Shown.count(survey.waiting().count(), "key"), survey.waiting()));
      }
      if (survey.open().count() > 0 && !endsSessions) {
        obstacles.add(
            ("%s not closed (%s): have the game close its sessions before it closes a node, replay"
                    + " WALs of nodes that died, then pass --end-sessions")
                .formatted(Shown.count(survey.open().count(), "session"), survey.open()));
      }
      return obstacles;
    }

    /** Topics keep the slots that they have: these must go on being there. */
    private List<String> ofTopics(int to) {
      return new TopicTable(mysql)
          .all().stream()
              .map(DefinedTopic::definition)
              .filter(topic -> topic.slots() > to)
              .map(
                  topic ->
                      "topic '%s' has %s slots: a namespace cannot have fewer than its topics"
                          .formatted(topic.topic(), topic.slots()))
              .toList();
    }

    /**
     * Does it, or nothing: until nobody gave a sign of life for long enough under the new number,
     * nothing is moved, and the setting goes back. Where it was cut short it may be repeated.
     *
     * @param progress told what it does
     * @throws GameQueueException naming what stands against it: nothing has changed then; or when a
     *     server goes away: then repeat it
     */
    public ReslotReport run(int to, boolean endsSessions, Actor actor, Consumer<String> progress)
        throws InterruptedException {
      refuse(obstacles(endsSessions));
      refuse(ofTopics(to));
      int from = Settings.slots(mysql);
      AuditTable.add(mysql, actor, "reslot", namespace, "from %s slots to %s".formatted(from, to));
      if (from != to && !moveSlots(from, to)) {
        throw new GameQueueException("somebody else changed the number of slots: look again");
      }
      fence();
      progress.accept(
          "the database has %s slots; waiting %s s for nodes and writers that give signs of life"
              .formatted(to, life.toSeconds()));
      try {
        watch();
        refuse(ofNodes());
        refuse(ofKeys(survey(), endsSessions));
      } catch (GameQueueException e) {
        moveSlots(to, from);
        throw e;
      }
      int[] done = {0, 0};
      SlotSurvey unused =
          redis.call(
              of ->
                  SlotSurvey.of(
                      of,
                      namespace,
                      some -> {
                        List<SessionEntry> open =
                            some.stream().filter(SessionEntry::isOpen).toList();
                        end(open);
                        SlotSurvey.forget(of, namespace, open);
                        done[0] += open.size();
                        done[1] += SlotSurvey.move(of, namespace, some, to);
                      },
                      scans.get()));
      long unusedSlots = redis.call(of -> SlotSurvey.forgetMarks(of, namespace, MOST_SLOTS));
      SlotSurvey after = survey();
      refuse(ofKeys(after, false));
      return new ReslotReport(done[1], done[0], after.others());
    }

    private static void refuse(List<String> obstacles) {
      if (!obstacles.isEmpty()) {
        throw new GameQueueException(String.join("; ", obstacles));
      }
    }

    /** Whoever is connected has to connect anew before he flushes or opens anything. */
    private void fence() {
      Term now = terms.current();
      long before = now.number();
      while (before > 0 && now.number() == before) {
        boolean unused = // false when somebody moved it, or noted something else about it
            terms.moveOn(
                now,
                new Primary(now.runId(), now.replId(), "", now.address(), now.sentinelEpoch()));
        now = terms.current();
      }
    }

    /** Whoever is alive gives a sign meanwhile. */
    private void watch() throws InterruptedException {
      long begunNanos = System.nanoTime();
      while (System.nanoTime() - begunNanos < life.toNanos()) {
        Thread.sleep(Math.min(LOOK_EVERY.toMillis(), life.toMillis()));
        Duration passed = Duration.ofNanos(System.nanoTime() - begunNanos);
        if (isAnyAlive(passed.minus(LOOK_EVERY))) {
          throw new GameQueueException(
              "a node or writer gave a sign of life meanwhile: nothing was changed; stop it, and"
                  + " try again");
        }
      }
    }

    /** A node that comes back finds newer sessions in MySQL, and has lost its own. */
    private void end(List<SessionEntry> open) {
      OwnerTable owners = new OwnerTable(mysql);
      SecureRandom random = new SecureRandom();
      Map<OwnerId, CountingSessions> seen =
          owners.current(open.stream().map(SessionEntry::owner).toList());
      for (SessionEntry of : open) {
        String nonce = "%016x".formatted(random.nextLong());
        SessionId ended =
            owners.raiseAfter(
                seen.get(of.owner()), of.owner(), nonce, "reslot", of.session().epoch());
        if (ended == null || !owners.markOpen(of.owner(), ended)) {
          throw new GameQueueException(
              "somebody opens %s at this moment: close it, and repeat this".formatted(of.owner()));
        }
      }
    }
  }
}
