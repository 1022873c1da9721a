package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.SlotContents.Progress;
import io.lettuce.core.SetArgs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What is in the slots of a namespace, whatever their number, while no node and no writer runs:
 * what is to be done before it can have another number of slots. It counts keys and names some: of
 * a database of any size it holds a page of keys. One thread.
 */
public final class SlotSurvey {
  private static final String OWN = "own:";

  private final Tally waiting = new Tally();
  private final Tally walIds = new Tally();
  private final Tally open = new Tally();
  private final Tally others = new Tally();

  private SlotSurvey() {}

  /** How many there are, and the first of them. Redis may tell of one twice. */
  public static final class Tally {
    private static final int MOST_NAMED = 3;

    private final Set<String> named = new LinkedHashSet<>();
    private long count;

    private void add(String name) {
      count++;
      if (named.size() <= MOST_NAMED) {
        named.add(name);
      }
    }

    public long count() {
      return count;
    }

    /** {@code player:1, player:2, player:3, ...}, as a terminal may see them. */
    @Override
    public String toString() {
      String names =
          named.stream().limit(MOST_NAMED).map(Shown::text).collect(Collectors.joining(", "));
      return named.size() > MOST_NAMED ? names + ", ..." : names;
    }
  }

  /**
   * A session that Redis knows of.
   *
   * @param millis until Redis forgets it, since it was closed; negative of one that was not
   */
  public record Remembered(OwnerId owner, SessionId session, int slot, long millis) {
    public boolean isOpen() {
      return millis < 0;
    }
  }

  /** Keys of rows that are on their way, or of what belongs to them. */
  public Tally waiting() {
    return waiting;
  }

  /** Of journal marks: their nodes did not end with everything in MySQL. */
  public Tally walIds() {
    return walIds;
  }

  /** Owners whose sessions were not closed. */
  public Tally open() {
    return open;
  }

  /** Keys that are none of these, such as those that a repair set aside. */
  public Tally others() {
    return others;
  }

  /**
   * Looks through all keys of a namespace, page by page.
   *
   * @param sessions told of those of each page that Redis knows of, open or closed
   * @param progress told of each page; may hold the next one back
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static SlotSurvey of(
      RedisConnection redis,
      String namespace,
      Consumer<List<Remembered>> sessions,
      Consumer<Progress> progress) {
    SlotSurvey survey = new SlotSurvey();
    Pattern ofSlot = SlotContents.ofSlot(namespace);
    SlotContents.pages(
        redis,
        namespace,
        keys -> {
          Map<String, Matcher> owns = new LinkedHashMap<>();
          for (String key : keys) {
            Matcher matcher = ofSlot.matcher(key);
            if (!matcher.matches()) {
              survey.others.add(key);
            } else if (matcher.group(2).startsWith(OWN)) {
              owns.put(key, matcher);
            } else {
              survey.add(redis, key, matcher.group(2));
            }
          }
          sessions.accept(survey.sessions(redis, owns));
        },
        progress);
    return survey;
  }

  private void add(RedisConnection redis, String key, String name) {
    String family = name.contains(":") ? name.substring(0, name.indexOf(':')) : name;
    if (name.equals("journal")) {
      RedisReply.await(() -> redis.sync().hkeys(SlotKeys.bytes(key)))
          .forEach(walId -> walIds.add(LuaScript.string(walId).replaceAll("[!@]$", "")));
      return;
    }
    switch (family) {
      case "t" -> {} // messages stay: their topics have a number of slots of their own
      case "sent", "unheld" -> {} // what sessions are to be told that end before: it expires
      case "dirty", "claimed", "inboxes", "inflight", "due", "ready", "lease", "claim" ->
          waiting.add(key);
      case "closing", "healing", "stale", "urgent" -> waiting.add(key);
      default -> others.add(key);
    }
  }

  /** In one go: there may be one for each player that ever was. */
  private List<Remembered> sessions(RedisConnection redis, Map<String, Matcher> owns) {
    Map<String, CompletionStage<byte[]>> sessions = new LinkedHashMap<>();
    Map<String, CompletionStage<Long>> lives = new LinkedHashMap<>();
    for (String key : owns.keySet()) {
      sessions.put(key, redis.async().get(SlotKeys.bytes(key)));
      lives.put(key, redis.async().pttl(SlotKeys.bytes(key)));
    }
    List<Remembered> found = new ArrayList<>();
    owns.forEach(
        (key, matcher) -> {
          byte[] session = RedisReply.await(Objects.requireNonNull(sessions.get(key)));
          long millis = RedisReply.await(Objects.requireNonNull(lives.get(key)));
          if (session == null) {
            return; // it expired
          }
          try {
            Remembered of =
                new Remembered(
                    OwnerId.ofEncoded(matcher.group(2).substring(OWN.length())),
                    SessionId.parse(LuaScript.string(session)),
                    Integer.parseInt(matcher.group(1)),
                    millis);
            found.add(of);
            if (of.isOpen()) {
              open.add(of.owner().id());
            }
          } catch (GameQueueException e) { // no owner, or no session
            others.add(key);
          }
        });
    return found;
  }

  /**
   * Moves what Redis remembers of closed sessions to the slots that their owners have by another
   * number of slots; what is there already stays. May be repeated.
   *
   * @return how many were in another slot
   */
  public static int move(
      RedisConnection redis, String namespace, List<Remembered> closed, int slots) {
    List<Remembered> moving =
        closed.stream()
            .filter(of -> of.millis() > 0 && of.owner().slot(slots) != of.slot())
            .toList();
    List<CompletionStage<String>> copied = new ArrayList<>();
    for (Remembered of : moving) {
      byte[] to = new SlotKeys(namespace, of.owner().slot(slots)).own(of.owner());
      SetArgs args = SetArgs.Builder.nx().px(of.millis());
      copied.add(redis.async().set(to, SlotKeys.bytes(of.session().text()), args));
    }
    copied.forEach(of -> RedisReply.await(of.thenApply(reply -> true)));
    forget(redis, namespace, moving);
    return moving.size();
  }

  /** Forgets sessions that are in no slot, or not open any more by MySQL. May be repeated. */
  public static void forget(RedisConnection redis, String namespace, List<Remembered> some) {
    List<CompletionStage<Long>> sent = new ArrayList<>();
    for (Remembered of : some) {
      sent.add(redis.async().del(new SlotKeys(namespace, of.slot()).own(of.owner())));
    }
    sent.forEach(RedisReply::await);
  }
}
