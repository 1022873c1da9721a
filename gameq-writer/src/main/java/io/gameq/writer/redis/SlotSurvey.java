package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.SlotContents.ScanProgress;
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
 *
 * @param waiting keys of rows that are on their way, or of what belongs to them
 * @param walIds of journal marks: their nodes did not end with everything in MySQL
 * @param open owners whose sessions were not closed
 * @param others keys that are none of these, such as those that a repair set aside
 */
public record SlotSurvey(Tally waiting, Tally walIds, Tally open, Tally others) {
  private static final String OWN = "own:";

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
  public record SessionEntry(OwnerId owner, SessionId session, int slot, long millis) {
    public boolean isOpen() {
      return millis < 0;
    }
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
      Consumer<List<SessionEntry>> sessions,
      Consumer<ScanProgress> progress) {
    SlotSurvey survey = new SlotSurvey(new Tally(), new Tally(), new Tally(), new Tally());
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
    switch (name.startsWith("journal:") ? name : name.split(":", 2)[0]) {
      case "t" -> {} // messages stay: their topics have a number of slots of their own
      case "sent", "unheld" -> {} // what sessions are to be told that end before: it expires
      case "dirty", "claimed", "inboxes", "inflight", "due", "ready", "lease", "claim" ->
          waiting.add(key);
      case "closing", "healing", "stale", "urgent" -> waiting.add(key);
      case "journal" ->
          RedisReply.await(() -> redis.sync().hkeys(SlotKeys.bytes(key)))
              .forEach(walId -> walIds.add(LuaScript.string(walId).replaceAll("[!@]$", "")));
      default -> others.add(key);
    }
  }

  /** In one go: there may be one for each player that ever was. */
  private List<SessionEntry> sessions(RedisConnection redis, Map<String, Matcher> owns) {
    record Replies(CompletionStage<byte[]> session, CompletionStage<Long> millis) {}
    Map<String, Replies> sent = new LinkedHashMap<>();
    for (String key : owns.keySet()) {
      byte[] own = SlotKeys.bytes(key);
      sent.put(key, new Replies(redis.async().get(own), redis.async().pttl(own)));
    }
    List<SessionEntry> found = new ArrayList<>();
    sent.forEach(
        (key, of) -> {
          byte[] session = RedisReply.await(of.session);
          long millis = RedisReply.await(of.millis);
          if (session == null) {
            return; // it expired
          }
          Matcher name = Objects.requireNonNull(owns.get(key));
          try {
            OwnerId owner = OwnerId.ofEncoded(name.group(2).substring(OWN.length()));
            SessionId id = SessionId.parse(LuaScript.string(session));
            found.add(new SessionEntry(owner, id, Integer.parseInt(name.group(1)), millis));
            if (millis < 0) {
              open.add(owner.id());
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
      RedisConnection redis, String namespace, List<SessionEntry> closed, int slots) {
    List<SessionEntry> moving =
        closed.stream()
            .filter(of -> of.millis() > 0 && of.owner().slot(slots) != of.slot())
            .toList();
    List<CompletionStage<String>> copied = new ArrayList<>();
    for (SessionEntry of : moving) {
      byte[] to = new SlotKeys(namespace, of.owner().slot(slots)).own(of.owner());
      SetArgs args = SetArgs.Builder.nx().px(of.millis());
      copied.add(redis.async().set(to, SlotKeys.bytes(of.session().text()), args));
    }
    copied.forEach(of -> RedisReply.await(of.thenApply(reply -> true)));
    forget(redis, namespace, moving);
    return moving.size();
  }

  /** Forgets sessions that are in no slot, or not open any more by MySQL. May be repeated. */
  public static void forget(RedisConnection redis, String namespace, List<SessionEntry> some) {
    List<CompletionStage<Long>> sent = new ArrayList<>();
    for (SessionEntry of : some) {
      sent.add(redis.async().del(new SlotKeys(namespace, of.slot()).own(of.owner())));
    }
    sent.forEach(RedisReply::await);
  }
}
