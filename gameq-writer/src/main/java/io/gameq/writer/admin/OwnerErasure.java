package io.gameq.writer.admin;

import io.gameq.GameQueueException;
import io.gameq.change.VersionClock;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.NodeSigns.OpenOwners;
import io.gameq.redis.script.SessionScripts;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.DeadLetterFilter;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.OwnerDeletion;
import io.gameq.writer.mysql.OwnerDeletion.DeletionResult;
import io.gameq.writer.redis.OwnerMessages;
import io.gameq.writer.redis.OwnerMessages.OwnerMessage;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.StaleSession;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Removes all that gameq and its tables hold of an owner, so that nothing brings it back. Used by
 * one thread, safe beside nodes and writers. Killed anywhere, it is to be run again.
 *
 * <pre>
 * 1. nobody has the owner open, or its holder was asked, or loses it
 * 2. writers flush what waits in Redis: no claim is left that could write later
 * 3. a session of its own, raised and opened as a node does: every earlier one counts no more,
 *    neither for flushes nor for healing nor for replays
 * 4. one transaction deletes all rows, each with a tombstone above all its versions
 * 5. dead letters and stale rows become discards; messages go
 * 6. the session is closed
 * </pre>
 *
 * <p>What step 3 adopts is in no WAL of this process. Should Redis lose it before it is flushed,
 * the node before reports it as conflicts. Step 2 leaves nothing to adopt, unless the owner is
 * taken from a node that is alive; writers flush it then.
 */
public final class OwnerErasure {
  /** What gameq_owner has in place of a node's name. */
  private static final String ERASED_BY = "(erased)";

  private static final long LOOK_EVERY_MILLIS = 200;

  private final Slots slots;
  private final ControlConnection redis;
  private final MySql mysql;
  private final StaleRows stale;
  private final OwnerTable owners;
  private final OwnerDeletion deletion;
  private final OwnerMessages messages;
  private final OpenOwners open;
  private final RedisClock clock = new RedisClock();
  private final String process;
  private final SecureRandom random = new SecureRandom();

  /**
   * With servers that others close.
   *
   * @throws GameQueueException when a server does not answer
   */
  public OwnerErasure(CommandServers servers) {
    this.slots = servers.slots();
    this.redis = servers.redis();
    this.mysql = servers.mysql();
    this.stale = new StaleRows(redis, slots);
    this.owners = new OwnerTable(mysql);
    this.deletion = new OwnerDeletion(mysql);
    this.messages = new OwnerMessages(redis, slots);
    this.process = "%08x".formatted(random.nextInt());
    this.open = new OpenOwners(slots.namespace(), process, (owner, session) -> false);
    clock.measure(redis);
  }

  /**
   * How an owner is taken.
   *
   * @param asks whether whoever has it open is asked to close it
   * @param takesOver whether it is taken from whoever has it open then
   * @param timeout for the holder, and for writers; each at most
   */
  public record HowToTake(boolean asks, boolean takesOver, Duration timeout) {}

  /**
   * What is there of an owner.
   *
   * @param rows in MySQL, by table
   * @param unflushed rows on their way there
   * @param stale sessions with stale rows
   * @param isOpen whether Redis remembers a session that nobody closed
   */
  public record Holdings(
      Map<String, Long> rows,
      long unflushed,
      List<StaleSession> stale,
      long letters,
      List<OwnerMessage> messages,
      boolean isOpen) {
    /** Whether there is nothing to erase. */
    public boolean isNothing() {
      return rows.isEmpty()
          && unflushed == 0
          && stale.isEmpty()
          && letters == 0
          && messages.isEmpty()
          && !isOpen;
    }

    /** {@code 3 rows (2 item, 1 player), 1 dead letter}. */
    @Override
    public String toString() {
      StringJoiner words = new StringJoiner(", ");
      String tables =
          rows.entrySet().stream()
              .map(of -> Shown.line("%,d %s", of.getValue(), of.getKey()))
              .collect(Collectors.joining(", "));
      long all = rows.values().stream().mapToLong(of -> of).sum();
      words.add(Shown.count(all, "row") + (all == 0 ? "" : " (" + tables + ")"));
      add(words, unflushed, "row on its way", "rows on their way");
      add(words, stale.size(), "session with stale rows", "sessions with stale rows");
      add(words, letters, "dead letter", "dead letters");
      add(words, messages.size(), "message", "messages");
      return words.toString();
    }
  }

  /**
   * What became of an owner.
   *
   * @param isDone whether nothing of it is left
   * @param text in some words; why it is left, and what is to be done
   */
  public record Erased(boolean isDone, String text) {}

  /** What there is; changes nothing. */
  public Holdings look(OwnerId owner, List<String> messageKeys) {
    var unused = deletion.catalog().tablesOf(owner); // refuses one that no table can have
    Map<String, Long> rows = deletion.count(owner);
    RedisOwner inRedis = inRedis(owner);
    return new Holdings(
        rows,
        inRedis.unflushed(),
        stale.sessions(owner),
        new DeadLetters(mysql).count(DeadLetterFilter.ofOwner(owner)),
        messages.find(OwnerExport.texts(owner, messageKeys)),
        inRedis.ownedBy() != null && inRedis.expiresMillis() < 0);
  }

  /** Where the owner is open, as it is said to users; null for nowhere. */
  public @Nullable String holder(OwnerId owner) {
    OpenOwners.Holder holder = holderOf(owner);
    return holder == null ? null : holder.where();
  }

  /** An erasure that was killed holds nothing. */
  private OpenOwners.@Nullable Holder holderOf(OwnerId owner) {
    OwnerTable.Durable seen = owners.durable(List.of(owner)).get(owner);
    if (seen == null) {
      return null;
    }
    OpenOwners.Holder holder =
        redis.call(of -> open.holder(of, slots.of(owner), owner, seen.sessions()));
    boolean isErasure =
        holder != null
            && seen.node().equals(ERASED_BY)
            && holder.session().equals(seen.sessions().newest());
    return isErasure ? null : holder;
  }

  private @Nullable CountingSessions sessions(OwnerId owner) {
    return owners.current(List.of(owner)).get(owner);
  }

  private RedisOwner inRedis(OwnerId owner) {
    CountingSessions seen = sessions(owner);
    List<SessionId> known = seen == null ? List.of() : seen.all();
    return redis.ask(of -> RedisOwner.look(of, slots.of(owner), owner, known));
  }

  /**
   * Erases an owner. One that is left has all its rows, or none any more; it may have been taken
   * from its holder.
   *
   * @param messageKeys keys and groups of messages that are its own, besides its id
   * @throws GameQueueException when a server does not answer: run it again
   */
  public Erased erase(OwnerId owner, List<String> messageKeys, HowToTake how)
      throws InterruptedException {
    CountingSessions seen = sessions(owner); // of before the look at who has it
    OpenOwners.Holder holder = awaitClosed(owner, how);
    if (holder != null && !how.takesOver) {
      return left(
          "it is open %s: close it there, pass --close to have its node asked, or --take-over"
              .formatted(holder.where()));
    }
    Holdings found = look(owner, messageKeys);
    if (found.isNothing()) {
      return new Erased(true, "nothing is left");
    }
    if (holder == null && !awaitFlushed(owner, how.timeout)) {
      return left(waits(owner, how.timeout));
    }
    SessionId session = take(owner, seen, holder != null);
    if (session == null) {
      return left("somebody opens it at this moment: run it again");
    }
    DeletionResult deleted;
    try {
      if (!awaitFlushed(owner, how.timeout)) {
        return left(waits(owner, how.timeout));
      }
      deleted = deletion.delete(owner, session, new VersionClock(clock));
      if (!deleted.obstacles().isEmpty()) {
        return left(String.join("; ", deleted.obstacles()));
      }
      removeOthers(owner, messageKeys);
    } finally {
      boolean unused = redis.call(of -> SessionScripts.close(of, slots.of(owner), owner, session));
    }
    Holdings after = look(owner, messageKeys);
    return after.isNothing()
        ? new Erased(true, "erased: " + with(found, deleted.rows()))
        : left(
            "its rows are gone, and %s came meanwhile or a handler has it: run it again"
                .formatted(after));
  }

  private static Erased left(String why) {
    return new Erased(false, "left: " + why);
  }

  /** What was found, with the rows as they were once all were in MySQL. */
  private static Holdings with(Holdings found, Map<String, Long> rows) {
    return new Holdings(rows, 0, found.stale, found.letters, found.messages, false);
  }

  private String waits(OwnerId owner, Duration wait) {
    return Shown.line(
        "%s not written within %d s: does a writer run, is anything paused? 'gameq-writer trace %s'"
            + " tells",
        inRedis(owner).unflushed() == 1 ? "a row was" : "rows were", wait.toSeconds(), owner.id());
  }

  /** Returns who has it still. */
  private OpenOwners.@Nullable Holder awaitClosed(OwnerId owner, HowToTake how)
      throws InterruptedException {
    long deadline = System.nanoTime() + how.timeout.toNanos();
    OpenOwners.Holder holder = holderOf(owner);
    SessionId asked = null;
    while (holder != null && how.asks && System.nanoTime() - deadline < 0) {
      if (!holder.session().equals(asked)) {
        open.tellHolder(redis, owner, holder.session(), true);
        asked = holder.session();
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      holder = holderOf(owner);
    }
    return holder;
  }

  /** Has writers write what waits; false when they did not in time. */
  private boolean awaitFlushed(OwnerId owner, Duration wait) throws InterruptedException {
    long deadline = System.nanoTime() + wait.toNanos();
    while (true) {
      RedisOwner state = inRedis(owner);
      boolean isClaimed = state.withInboxes().anyMatch(RedisOwner::isClaimed);
      if (state.unflushed() == 0 && !isClaimed) {
        return true;
      }
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      flushNow(owner, state);
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
  }

  private void flushNow(OwnerId owner, RedisOwner state) {
    int slot = slots.of(owner).slot();
    List<SessionRef> sessions = new ArrayList<>();
    state.sessions().forEach(of -> sessions.add(new SessionRef(owner, of.session(), slot)));
    state
        .inboxes()
        .keySet()
        .forEach(
            inbox -> sessions.add(new SessionRef(inbox, SessionId.ofInbox(inbox.sender()), slot)));
    redis.run(of -> SessionScripts.flushNow(of, slots.all(), sessions));
  }

  /** Opens it, as a node does, and tells who had it; null when somebody else opens it too. */
  private @Nullable SessionId take(
      OwnerId owner, @Nullable CountingSessions seen, boolean fromAnybody) {
    SlotKeys slot = slots.of(owner);
    String nonce = process + "%08x".formatted(random.nextInt());
    SessionId raised =
        fromAnybody
            ? owners.raise(owner, nonce, ERASED_BY, 0)
            : owners.raiseAfter(seen, owner, nonce, ERASED_BY, 0);
    if (raised != null && open(slot, owner, raised) instanceof SessionScripts.Refused refused) {
      // MySQL lost the newest epochs, as by a failover; else the next open is refused as well.
      raised = owners.raise(owner, nonce, ERASED_BY, refused.ownedBy().epoch() + 1);
      raised = open(slot, owner, raised) instanceof SessionScripts.Opened ? raised : null;
    }
    return raised != null && owners.markOpen(owner, raised) ? raised : null;
  }

  private SessionScripts.Outcome open(SlotKeys slot, OwnerId owner, SessionId session) {
    return redis.call(of -> SessionScripts.open(of, slot, owner, session, 0, false));
  }

  /** What is not in managed tables; each of it may be done again. */
  private void removeOthers(OwnerId owner, List<String> messageKeys) {
    DeadLetters letters = new DeadLetters(mysql);
    for (Stored letter : letters.ofOwner(owner, false, Integer.MAX_VALUE)) {
      boolean unused = letters.discard(letter);
    }
    for (StaleSession of : stale.sessions(owner)) {
      StaleRows.DiscardResult unused = StaleSessions.discard(stale, mysql, of);
    }
    messages.delete(
        messages.find(OwnerExport.texts(owner, messageKeys)), new VersionClock(clock).next(1));
  }

  /** What stays in MySQL and names the owner or its rows' keys, without values; may be empty. */
  public String remains(OwnerId owner) {
    StringJoiner words = new StringJoiner(", ");
    MySqlOwner.counts(mysql, owner)
        .forEach(
            (what, count) -> {
              String one = what.equals("handled") ? "handled message" : what.replaceAll("s$", "");
              add(words, count, one, one + "s");
            });
    int entries = MySqlOwner.auditEntries(mysql, owner).size();
    add(words, entries, "audit entry", "audit entries");
    return words.toString();
  }

  private static void add(StringJoiner to, long count, String one, String more) {
    if (count > 0) {
      to.add(Shown.line("%,d %s", count, count == 1 ? one : more));
    }
  }
}
