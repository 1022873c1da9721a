package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.writer.redis.Finding.SlotEntry;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScoredValue;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
  static void pages(
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
  static Pattern ofSlot(String namespace) {
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
    boolean isGroup = matcher.group(2).equals("lane");
    String type =
        switch (matcher.group(2)) {
          case "msg", "held", "claim", "tries", "failed", "dead", "why" -> "hash";
          case "due", "ready", "behind", "lease", "lane" -> "zset";
          default -> "";
        };
    if (!type.isEmpty()) {
      to.add(new SlotEntry(slot, "key", name, type));
    }
    if (isGroup && matcher.group(3) != null) {
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
}
