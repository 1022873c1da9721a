package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.SetArgs;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is in the slots of a namespace, whatever their number, while no node and no writer runs:
 * what is to be done before it can have another number of slots, and what moves then. Immutable.
 *
 * @param waiting keys of rows that are on their way, or of what belongs to them
 * @param walIds of journal marks: their nodes did not end with everything in MySQL
 * @param open sessions that were not closed
 * @param closed sessions that Redis remembers for a while
 * @param others keys that are none of these, such as those that a repair set aside
 */
public record SlotSurvey(
    Set<String> waiting,
    Set<String> walIds,
    List<Remembered> open,
    List<Remembered> closed,
    Set<String> others) {
  private SlotSurvey() {
    this(
        new LinkedHashSet<>(),
        new LinkedHashSet<>(),
        new ArrayList<>(),
        new ArrayList<>(),
        new LinkedHashSet<>());
  }

  /** A session that Redis knows of. */
  public record Remembered(OwnerId owner, SessionId session, int slot) {}

  /**
   * Looks through all keys of a namespace, page by page.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static SlotSurvey of(RedisConnection redis, String namespace) {
    SlotSurvey survey = new SlotSurvey();
    Set<String> all = new LinkedHashSet<>(); // SCAN repeats
    RedisReply.await(
        () -> {
          ScanIterator.scan(redis.sync(), SlotContents.inSlots(namespace))
              .forEachRemaining(key -> all.add(LuaScript.string(key)));
          return true;
        });
    Pattern ofSlot = SlotContents.ofSlot(namespace);
    for (String key : all) {
      Matcher matcher = ofSlot.matcher(key);
      if (matcher.matches()) {
        survey.add(redis, key, Integer.parseInt(matcher.group(1)), matcher.group(2));
      } else {
        survey.others.add(key);
      }
    }
    return survey;
  }

  private void add(RedisConnection redis, String key, int slot, String name) {
    String family = name.contains(":") ? name.substring(0, name.indexOf(':')) : name;
    if (name.equals("journal")) {
      RedisReply.await(() -> redis.sync().hkeys(SlotKeys.bytes(key)))
          .forEach(walId -> walIds.add(LuaScript.string(walId).replaceAll("[!@]$", "")));
      return;
    }
    switch (family) {
      case "t" -> {} // messages stay: their topics have a number of slots of their own
      case "sent", "unheld" -> {} // what sessions are to be told that end before: it expires
      case "own" -> addOwn(redis, key, slot, name.substring("own:".length()));
      case "dirty", "claimed", "inboxes", "inflight", "due", "ready", "lease", "claim" ->
          waiting.add(key);
      case "closing", "healing", "stale", "urgent" -> waiting.add(key);
      default -> others.add(key);
    }
  }

  private void addOwn(RedisConnection redis, String key, int slot, String owner) {
    byte[] session = RedisReply.await(() -> redis.sync().get(SlotKeys.bytes(key)));
    if (session == null) {
      return; // it expired
    }
    long lives = RedisReply.await(() -> redis.sync().pttl(SlotKeys.bytes(key)));
    try {
      Remembered of =
          new Remembered(
              OwnerId.ofEncoded(owner), SessionId.parse(LuaScript.string(session)), slot);
      (lives < 0 ? open : closed).add(of);
    } catch (GameQueueException e) { // no owner, or no session
      others.add(key);
    }
  }

  /**
   * Moves what Redis remembers of a closed session to the slot that its owner has by another number
   * of slots; what is there already stays. May be repeated.
   *
   * @return whether it was in another slot
   */
  public static boolean move(RedisConnection redis, String namespace, Remembered of, int slots) {
    int slot = of.owner().slot(slots);
    if (slot == of.slot()) {
      return false;
    }
    byte[] from = new SlotKeys(namespace, of.slot()).own(of.owner());
    byte[] to = new SlotKeys(namespace, slot).own(of.owner());
    long lives = RedisReply.await(() -> redis.sync().pttl(from));
    if (lives > 0) {
      RedisReply.await(
          () ->
              redis
                      .sync()
                      .set(to, SlotKeys.bytes(of.session().text()), SetArgs.Builder.nx().px(lives))
                  == null);
      RedisReply.await(() -> redis.sync().del(from));
    }
    return true;
  }

  /** Forgets a session that is not open any more by MySQL. May be repeated. */
  public static void forget(RedisConnection redis, String namespace, Remembered of) {
    byte[] own = new SlotKeys(namespace, of.slot()).own(of.owner());
    long unused = RedisReply.await(() -> redis.sync().del(own));
  }
}
