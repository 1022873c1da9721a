package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.script.SlotBacklog.WaitingOwners;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.redis.DueSlots;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.UnwrittenOwners;
import io.gameq.writer.redis.UnwrittenOwners.OwnerBacklog;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flush}: has rows written now. */
@Command(
    name = "flush",
    description =
        "Has writers write what waits now, instead of at the end of its merge window; before"
            + " maintenance, say.",
    footer = {
      "",
      "With --wait it ends with 0 when all that was there when it began is in MySQL or set aside as"
          + " a dead letter, and with 1 when it is not in time: then it says what waits, and why as"
          + " far as that can be seen. What is paused is not written."
    })
public final class FlushCommand extends AdminCommand {
  private static final long LOOK_EVERY_MILLIS = 200;

  /** Where no line can be written over. */
  private static final long TELL_EVERY_SECONDS = 10;

  private static final int MOST_SECONDS = 86_400; // whoever waits for a day has forgotten it

  @Parameters(
      arity = "0..*",
      paramLabel = "OWNER",
      description = "Owners, as the game writes them: player:42; or give --all.")
  private List<String> owners = new ArrayList<>();

  @Option(names = "--all", description = "What all owners have.")
  private boolean all;

  @Option(names = "--wait", description = "Wait until it is written, and show how far it is.")
  private boolean wait;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description = "With --wait, for at most so long (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 300;

  @Override
  public Integer call() throws InterruptedException {
    if (owners.isEmpty() != all) {
      throw wrong("give owners, or --all");
    }
    if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS) {
      throw wrong("--timeout takes 1 to %s seconds".formatted(MOST_SECONDS));
    }
    List<OwnerId> ids = owners.stream().distinct().map(OwnerId::of).toList();
    PrintWriter out = out();
    CommandServers servers = servers();
    FlushRequest flush = new FlushRequest(servers);
    long began = System.nanoTime();
    FlushProgress progress = all ? flush.all(actor()) : flush.owners(actor(), ids);
    Remainder left = progress.look();
    if (left.isDone()) {
      out.println(all ? "nothing waits" : names(ids) + ": nothing waits");
      return ExitCodes.OK;
    }
    out.println("due now: " + (all ? "what all owners have" : left.text()));
    if (!wait) {
      return ExitCodes.OK;
    }
    left = await(progress, left, out);
    if (left.isDone()) {
      out.println(
          Shown.line("all of it is written, after %.1f s", (System.nanoTime() - began) / 1e9));
      return ExitCodes.OK;
    }
    out.println(Shown.line("not written within %d s: %s", timeoutSeconds, left.text()));
    why(servers, progress.some()).forEach(out::println);
    return ExitCodes.FOUND_SOMETHING;
  }

  private static String names(List<OwnerId> owners) {
    return owners.stream().map(of -> Shown.text(of.id())).collect(Collectors.joining(", "));
  }

  private Remainder await(FlushProgress progress, Remainder first, PrintWriter out)
      throws InterruptedException {
    boolean isTerminal = Ansi.AUTO.enabled();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
    long tellNanos = System.nanoTime();
    Remainder left = first;
    while (!left.isDone() && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      left = progress.look();
      if (isTerminal) {
        out.print("\r\033[K" + left.text());
        out.flush();
      } else if (System.nanoTime() - tellNanos > TimeUnit.SECONDS.toNanos(TELL_EVERY_SECONDS)) {
        out.println(left.text());
        tellNanos = System.nanoTime();
      }
    }
    if (isTerminal) {
      out.print("\r\033[K");
    }
    return left;
  }

  /** Why rows are not written yet: each reason in one line, with what it holds up. */
  private static Collection<String> why(CommandServers servers, List<OwnerBacklog> owners) {
    WriterConfig settings = servers.settings();
    Pauses pauses = Pauses.read(servers.mysql());
    Set<String> heldTables = pauses.heldTables(servers.mysql());
    boolean hasRoom = DeadLetters.count(servers.mysql()) < settings.writer().deadLetters();
    Processes processes = servers.redis().ask(of -> Processes.of(of, settings.namespace()));
    Set<String> why = new LinkedHashSet<>();
    List<OwnerBacklog> rest = new ArrayList<>();
    for (OwnerBacklog of : owners) {
      WriterPause pause = pauses.ofSlot(of.owner().slot(settings.slots()));
      if (pause == null) {
        rest.add(of);
      } else {
        why.add(Pauses.line(pause));
      }
    }
    List<OwnerBacklog> held = take(rest, of -> heldTables.containsAll(of.tables()));
    if (!held.isEmpty()) {
      addPauses(why, pauses, Scope.TABLE);
      add(why, held, "nothing but rows of paused tables, or of tables that refer to them");
    }
    List<OwnerBacklog> refused = take(rest, of -> of.refusedForMillis() > 0);
    String then =
        hasRoom
            ? ", then set aside"
            : "; there is no room for more dead letters (writer.deadLetters): see 'dead list'";
    long millis = refused.stream().mapToLong(OwnerBacklog::refusedForMillis).max().orElse(0);
    add(
        why,
        refused,
        "MySQL refuses rows of them, since %s s: they are tried again%s"
            .formatted(millis / 1_000, then));
    add(why, take(rest, of -> of.claimed() > 0), "claimed by a writer that has yet to finish");
    if (!rest.isEmpty()) {
      addPauses(why, pauses, Scope.WRITER);
      processes.writers().forEach(of -> why.addAll(of.toDo()));
      add(
          why,
          rest,
          processes.writersThere() == 0
              ? "due, and no writer runs: start one"
              : "due and not claimed, or given back: the logs of the writers and their /ready say"
                  + " why");
    }
    return why;
  }

  private static void addPauses(Set<String> why, Pauses pauses, Scope scope) {
    pauses.all().stream().filter(of -> of.scope() == scope).forEach(of -> why.add(Pauses.line(of)));
  }

  private static void add(Set<String> why, List<OwnerBacklog> owners, String reason) {
    if (!owners.isEmpty()) {
      why.add(
          "%s (%s%s): %s"
              .formatted(
                  Shown.count(owners.size(), "owner"),
                  Shown.text(owners.get(0).owner().id()),
                  owners.size() > 1 ? ", ..." : "",
                  reason));
    }
  }

  private static List<OwnerBacklog> take(List<OwnerBacklog> from, Predicate<OwnerBacklog> which) {
    List<OwnerBacklog> taken = from.stream().filter(which).toList();
    from.removeAll(taken);
    return taken;
  }

  /**
   * Has what waits written at once instead of at the end of its merge windows, by command line or
   * console. Written into the audit log before it is done. It is the writers that write: what is
   * paused stays so. Used by one thread.
   */
  public static final class FlushRequest {
    /** Clocks of nodes follow that of Redis; what is committed so soon afterwards counts too. */
    private static final long CLOCKS_MILLIS = 1_000;

    private final MySql mysql;
    private final ControlConnection redis;
    private final Slots slots;
    private final RedisClock clock = new RedisClock();

    public FlushRequest(CommandServers servers) {
      this.mysql = servers.mysql();
      this.redis = servers.redis();
      this.slots = servers.slots();
    }

    /**
     * Makes due what some owners have dirty, and what was sent to them. Returns what of it is not
     * written yet.
     *
     * @throws GameQueueException when a server does not answer, or Redis refuses; some may be due
     *     by then
     */
    public FlushProgress owners(Actor actor, List<OwnerId> owners) {
      owners.forEach(of -> AuditTable.add(mysql, actor, "flush", of.id(), ""));
      long newest = newestThatCounts();
      Map<OwnerId, CountingSessions> durable = new OwnerTable(mysql).current(owners);
      List<SessionRef> sessions = new ArrayList<>();
      for (OwnerId owner : owners) {
        for (SessionId session : sessions(owner, durable.get(owner))) {
          sessions.add(new SessionRef(owner, session, owner.slot(slots.count())));
        }
        for (OwnerId inbox : redis.ask(of -> RedisOwner.inboxes(of, slots.of(owner), owner))) {
          SessionId session = SessionId.ofInbox(inbox.sender());
          sessions.add(new SessionRef(inbox, session, inbox.slot(slots.count())));
        }
      }
      redis.run(of -> SessionScripts.flushNow(of, slots.all(), sessions));
      return new FlushProgress(redis, slots, newest, sessions);
    }

    /** Those that may have rows: the one that owns in Redis, and those that count in MySQL. */
    private Set<SessionId> sessions(OwnerId owner, @Nullable CountingSessions durable) {
      SessionId inRedis = redis.ask(of -> SessionScripts.session(of, slots.of(owner), owner));
      Set<SessionId> all = new LinkedHashSet<>(durable == null ? List.of() : durable.all());
      if (inRedis != null) {
        all.add(inRedis);
      }
      return all;
    }

    /**
     * Makes due what all have dirty, behind those who have been due for longer. Returns what of it
     * is not written yet.
     *
     * @throws GameQueueException as {@link #owners} does
     */
    public FlushProgress all(Actor actor) {
      AuditTable.add(mysql, actor, "flush", "all", "");
      long newest = newestThatCounts();
      for (SlotKeys slot : slots.all()) {
        long unused =
            redis.call(
                of -> {
                  long nowMillis = clock.getAsLong();
                  return DueSlots.pullForward(of, slot, nowMillis, nowMillis);
                });
      }
      return new FlushProgress(redis, slots, newest, null);
    }

    private long newestThatCounts() {
      clock.measure(redis);
      return VersionClock.first(clock.getAsLong() + CLOCKS_MILLIS);
    }
  }

  /**
   * What is left of a flush.
   *
   * @param isDone whether nothing is
   * @param text what is, in some words for who waits
   */
  public record Remainder(boolean isDone, String text) {}

  /**
   * What was there when a flush was asked for and is not in MySQL yet. Of all owners it looks slot
   * by slot, since all slots are written meanwhile. A slot is done when a fresh look at all who
   * wait in it finds nobody with rows that count. Used by one thread.
   */
  public static final class FlushProgress {
    /** Of one look: whoever waits wants to be told meanwhile. */
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** Of an owner, to tell from their tables why he waits. */
    private static final int SOME_ROWS = 1_000;

    private static final int ALL_ROWS = 1_000_000; // an owner has fewer: all are counted

    private final ControlConnection redis;
    private final Slots slots;
    private final long newest;
    private final @Nullable Map<SlotKeys, List<String>> members; // null: of all owners
    private int slot;
    private Set<String> waiting = Set.of();
    private boolean isFresh;

    private FlushProgress(
        ControlConnection redis, Slots slots, long newest, @Nullable List<SessionRef> sessions) {
      this.redis = redis;
      this.slots = slots;
      this.newest = newest;
      this.members =
          sessions == null
              ? null
              : sessions.stream()
                  .collect(
                      Collectors.groupingBy(
                          of -> slots.of(of.owner()),
                          LinkedHashMap::new,
                          Collectors.mapping(
                              of -> of.owner().encoded() + ":" + of.text(), Collectors.toList())));
    }

    /**
     * Looks again; some times a second is often enough.
     *
     * @throws GameQueueException when Redis does not answer; what was found stays found
     */
    public Remainder look() {
      if (members != null) {
        List<OwnerBacklog> left = some();
        return new Remainder(
            left.isEmpty(),
            Shown.line(
                "%s of %s, %,d of them claimed by a writer",
                Shown.count(left.stream().mapToLong(OwnerBacklog::rows).sum(), "row"),
                Shown.count(left.stream().map(of -> of.owner().base()).distinct().count(), "owner"),
                left.stream().mapToLong(OwnerBacklog::claimed).sum()));
      }
      long began = System.nanoTime();
      boolean goesOn = true;
      while (slot < slots.count() && goesOn && System.nanoTime() - began < MOST_NANOS) {
        goesOn = step(slots.get(slot));
      }
      return new Remainder(
          slot == slots.count(),
          Shown.line(
              "%,d of %s are written; in slot %d %s may wait",
              slot,
              Shown.count(slots.count(), "slot"),
              slot,
              Shown.count(waiting.size(), "owner")));
    }

    /** Looks at some owners of a slot; false when none of them has been written since. */
    private boolean step(SlotKeys of) {
      if (waiting.isEmpty()) {
        waiting = new LinkedHashSet<>(redis.ask(connection -> WaitingOwners.of(connection, of)));
        isFresh = true;
        if (waiting.isEmpty()) {
          slot++;
          return true;
        }
      }
      List<String> some = waiting.stream().limit(WaitingOwners.MOST_AT_ONCE).toList();
      Set<String> left =
          unwritten(of, 1, some).stream()
              .map(one -> one.owner().encoded())
              .collect(Collectors.toSet());
      boolean isAnyWritten =
          waiting.removeAll(
              some.stream()
                  .filter(one -> !left.contains(one.substring(0, one.lastIndexOf(':'))))
                  .collect(Collectors.toSet()));
      if (!left.isEmpty()) {
        isFresh = false;
      } else if (waiting.isEmpty() && isFresh) {
        slot++;
      }
      return isAnyWritten;
    }

    private List<OwnerBacklog> unwritten(SlotKeys in, int mostRows, List<String> some) {
      return redis.ask(of -> UnwrittenOwners.unwritten(of, in, newest, mostRows, some));
    }

    /**
     * Owners with rows that are left, of all owners some of each slot: to tell from why they wait.
     * Throws as {@link #look}.
     */
    public List<OwnerBacklog> some() {
      Map<OwnerId, OwnerBacklog> left = new LinkedHashMap<>(); // of several sessions the same rows
      if (members != null) {
        members.forEach(
            (in, all) ->
                LuaScript.pieces(all, WaitingOwners.MOST_AT_ONCE)
                    .forEach(
                        few ->
                            unwritten(in, ALL_ROWS, few)
                                .forEach(of -> left.putIfAbsent(of.owner(), of))));
      } else {
        Arrays.stream(slots.all())
            .skip(slot)
            .flatMap(
                in ->
                    unwritten(in, SOME_ROWS, redis.ask(of -> UnwrittenOwners.some(of, in)))
                        .stream())
            .forEach(of -> left.putIfAbsent(of.owner(), of));
      }
      return List.copyOf(left.values());
    }
  }
}
