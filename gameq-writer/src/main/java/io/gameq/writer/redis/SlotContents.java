package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.Finding.SlotEntry;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.SetArgs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All things in the slots of a namespace, page by page: nobody waits for a large key, and what is
 * there all the time is told of, perhaps twice. Plain commands. Stateless.
 */
public final class SlotContents {
  /** Keys or entries that Redis looks at in one go. */
  public static final int PAGE = 250;

  private static final ScanArgs SCAN = ScanArgs.Builder.limit(PAGE);

  /** Keys that there is one of in each slot, and whose entries are looked at. */
  private static final List<String> WITH_ENTRIES =
      List.of("due", "lease", "claim", "journal", "closing", "healing", "stale", "ready");

  private static final Pattern OF_TOPIC = Pattern.compile("([^:]*):([a-z]*)(?::(.*))?");

  private static final Pattern DIRTY = Pattern.compile("(.*):([^:]*)");

  private SlotContents() {}

  /**
   * How far it is.
   *
   * @param keys of the whole server that were looked at, about
   * @param ofKeys that it has
   */
  public record ScanProgress(long keys, long ofKeys) {}

  /**
   * Tells of all keys of a namespace, and the things that are keys.
   *
   * @param slots how many there should be; keys of others are told of as {@code any}
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static void keys(
      RedisConnection redis,
      String namespace,
      int slots,
      Consumer<List<SlotEntry>> page,
      Consumer<ScanProgress> progress) {
    Pattern ofSlot = ofSlot(namespace);
    pages(
        redis,
        namespace,
        keys -> {
          List<SlotEntry> things = new ArrayList<>();
          for (String key : keys) {
            Matcher matcher = ofSlot.matcher(key);
            if (matcher.matches()) {
              add(things, Integer.parseInt(matcher.group(1)), matcher.group(2), slots);
            }
          }
          page.accept(things);
        },
        progress);
  }

  /** Tells of the names of all keys of all slots; SCAN repeats. */
  private static void pages(
      RedisConnection redis,
      String namespace,
      Consumer<List<String>> page,
      Consumer<ScanProgress> progress) {
    long ofKeys = RedisReply.await(() -> redis.sync().dbsize());
    ScanArgs args = ScanArgs.Builder.limit(PAGE).match(SlotKeys.bytes("{" + namespace + ":*"));
    ScanCursor at = ScanCursor.INITIAL;
    long looked = 0;
    do {
      ScanCursor from = at;
      KeyScanCursor<byte[]> found = RedisReply.await(() -> redis.sync().scan(from, args));
      page.accept(found.getKeys().stream().map(LuaScript::string).toList());
      looked += PAGE;
      progress.accept(new ScanProgress(Math.min(looked, ofKeys), ofKeys));
      at = found;
    } while (!at.isFinished());
  }

  /** Any key of a slot: its number, and the rest of its name. */
  private static Pattern ofSlot(String namespace) {
    return Pattern.compile(Pattern.quote("{" + namespace + ":") + "(\\d{1,4})\\}:(.*)");
  }

  private static void add(List<SlotEntry> to, int slot, String name, int slots) {
    String[] parts = name.split(":", 2);
    String family = parts[0];
    String of = parts.length > 1 ? parts[1] : "";
    if (slot >= slots || family.equals("aside")) {
      to.add(new SlotEntry(slot, "any", name, ""));
      return;
    }
    if (family.equals("t")) {
      addOfTopic(to, slot, name, of);
      return;
    }
    String type =
        switch (family) {
          case "own" -> "string";
          case "dirty", "claimed", "inboxes", "sent", "unheld" -> "hash";
          case "inflight" -> "list";
          default -> parts.length > 1 ? "" : typeInSlot(name);
        };
    if (type.isEmpty()) {
      return; // of a newer version
    }
    Matcher dirty = DIRTY.matcher(of);
    boolean isDirty = family.equals("dirty") && dirty.matches();
    boolean isOfProcess = family.equals("inflight") || family.equals("sent");
    if (!isOfProcess
        && parts.length > 1
        && isElsewhere(isDirty ? dirty.group(1) : of, slot, slots)) {
      to.add(new SlotEntry(slot, "any", name, ""));
      return;
    }
    to.add(new SlotEntry(slot, "key", name, type));
    if (isDirty) {
      to.add(new SlotEntry(slot, family, dirty.group(1), dirty.group(2)));
    } else if (Set.of("own", "claimed", "inboxes").contains(family)) {
      to.add(new SlotEntry(slot, family, of, ""));
    }
  }

  private static String typeInSlot(String name) {
    return switch (name) {
      case "due", "lease" -> "zset";
      case "ready" -> "list";
      case "claim", "journal" -> "hash";
      case "closing", "healing", "stale", "urgent" -> "set";
      default -> "";
    };
  }

  private static void addOfTopic(List<SlotEntry> to, int slot, String name, String of) {
    Matcher matcher = OF_TOPIC.matcher(of);
    if (!matcher.matches()) {
      return;
    }
    String type =
        switch (matcher.group(2)) {
          case "msg", "held", "claim", "tries", "failed", "dead", "why", "handlers", "alive" ->
              "hash";
          case "due", "ready", "behind", "lease", "lane", "unhandled" -> "zset";
          default -> "";
        };
    if (!type.isEmpty()) {
      to.add(new SlotEntry(slot, "key", name, type));
    }
    if (matcher.group(2).equals("lane") && matcher.group(3) != null) {
      to.add(new SlotEntry(slot, "group", matcher.group(1), matcher.group(3)));
    }
  }

  /** By another number of slots, this was the owner's. */
  private static boolean isElsewhere(String owner, int slot, int slots) {
    try {
      return OwnerId.ofEncoded(owner).slot(slots) != slot;
    } catch (GameQueueException e) { // no owner
      return false;
    }
  }

  /**
   * Tells of all entries in the keys that there is one of in a slot.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static void entries(RedisConnection redis, SlotKeys slot, Consumer<List<SlotEntry>> page) {
    for (String key : WITH_ENTRIES) {
      Function<String, SlotEntry> thing = name -> new SlotEntry(slot.slot(), key, name, "");
      entries(redis, slot, key, typeInSlot(key), thing, page);
    }
  }

  /** Tells of all messages of a topic in a slot, and of its lanes; throws as {@link #entries}. */
  public static void messages(
      RedisConnection redis, SlotKeys slot, String topic, Consumer<List<SlotEntry>> page) {
    String key = "t:" + topic + ":";
    int in = slot.slot();
    entries(redis, slot, key + "msg", "hash", of -> new SlotEntry(in, "message", topic, of), page);
    entries(redis, slot, key + "held", "hash", of -> new SlotEntry(in, "held", topic, of), page);
    entries(redis, slot, key + "due", "zset", of -> new SlotEntry(in, "lane", topic, of), page);
  }

  /** Tells of all entries of what a writer has claimed in a slot; throws as {@link #entries}. */
  public static void inflight(
      RedisConnection redis, SlotKeys slot, String writer, Consumer<List<SlotEntry>> page) {
    String key = "inflight:" + writer;
    entries(
        redis, slot, key, "list", of -> new SlotEntry(slot.slot(), "inflight", writer, of), page);
  }

  private static void entries(
      RedisConnection redis,
      SlotKeys slot,
      String name,
      String type,
      Function<String, SlotEntry> thing,
      Consumer<List<SlotEntry>> page) {
    byte[] key = SlotKeys.bytes(slot.prefix() + ":" + name);
    Iterator<byte[]> entries =
        switch (type) {
          case "zset" ->
              ScanIterator.zscan(redis.sync(), key, SCAN).stream()
                  .map(ScoredValue::getValue)
                  .iterator();
          case "hash" ->
              ScanIterator.hscan(redis.sync(), key, SCAN).stream().map(KeyValue::getKey).iterator();
          case "set" -> ScanIterator.sscan(redis.sync(), key, SCAN);
          default -> ofList(redis, key);
        };
    List<SlotEntry> things = new ArrayList<>();
    while (Boolean.TRUE.equals(LuaScript.unlessForeign(entries::hasNext))) {
      things.add(thing.apply(LuaScript.string(entries.next())));
      if (things.size() == PAGE) {
        page.accept(List.copyOf(things));
        things.clear();
      }
    }
    page.accept(things);
  }

  private static Iterator<byte[]> ofList(RedisConnection redis, byte[] key) {
    return Stream.iterate(0L, from -> from + PAGE)
        .map(from -> redis.sync().lrange(key, from, from + PAGE - 1))
        .takeWhile(some -> !some.isEmpty())
        .flatMap(List::stream)
        .iterator();
  }

  /**
   * What is in the slots of a namespace, whatever their number, while no node and no writer runs:
   * what is to be done before it can have another number of slots. It counts keys and names some:
   * of a database of any size it holds a page of keys. One thread.
   *
   * @param waiting keys of rows that are on their way, or of what belongs to them
   * @param open owners whose sessions were not closed
   * @param others keys that are none of these, such as those that a repair set aside
   */
  public record SlotSurvey(Tally waiting, Tally open, Tally others) {
    private static final String OWN = "own:";

    private static final Set<String> WAITING =
        Set.of(
            "dirty",
            "claimed",
            "inboxes",
            "inflight",
            "due",
            "ready",
            "lease",
            "claim",
            "closing",
            "healing",
            "stale",
            "urgent");

    /**
     * Topics have a number of slots of their own; what sessions are yet to be told expires; marks
     * are {@linkplain #forgetMarks forgotten}.
     */
    private static final Set<String> STAYING = Set.of("t", "sent", "unheld", "journal");

    /** How many there are, and the first of them. Redis may tell of one twice. */
    public static final class Tally {
      private static final int MOST_NAMED = 3;

      private final Set<String> named = new LinkedHashSet<>();
      private long count;

      /** One more. */
      public void add(String name) {
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
      SlotSurvey survey = new SlotSurvey(new Tally(), new Tally(), new Tally());
      Pattern ofSlot = ofSlot(namespace);
      pages(
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
                survey.add(key, matcher.group(2));
              }
            }
            sessions.accept(survey.sessions(redis, owns));
          },
          progress);
      return survey;
    }

    private void add(String key, String name) {
      String family = name.split(":", 2)[0];
      if (WAITING.contains(family)) {
        waiting.add(key);
      } else if (!STAYING.contains(family)) {
        others.add(key);
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

    /**
     * Forgets the journal marks of all WALs, which other numbers of slots do not replay; returns in
     * how many slots there were any.
     */
    public static long forgetMarks(RedisConnection redis, String namespace, int slots) {
      byte[][] keys = new byte[slots][];
      Arrays.setAll(keys, slot -> new SlotKeys(namespace, slot).journal());
      return RedisReply.await(() -> redis.sync().del(keys));
    }
  }
}
