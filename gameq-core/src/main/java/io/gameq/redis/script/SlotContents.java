package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.Symptom.Thing;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScanIterator;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * All things in the slots of a namespace, page by page: nobody waits for a large key, and what is
 * there all the time is told of, perhaps twice. Plain commands. Stateless.
 */
public final class SlotContents {
  /** Keys or entries that Redis looks at in one go. */
  private static final int PAGE = 250;

  /** The keys that there is one of in each slot. */
  private static final Map<String, String> TYPES =
      Map.of(
          "due", "zset",
          "ready", "list",
          "lease", "zset",
          "claim", "hash",
          "closing", "set",
          "healing", "set",
          "stale", "set",
          "urgent", "set",
          "journal", "hash");

  /** The keys that there is one of in each slot and topic. */
  private static final Map<String, String> TYPES_OF_TOPIC =
      Map.of(
          "msg", "hash",
          "due", "zset",
          "ready", "zset",
          "behind", "zset",
          "held", "hash",
          "claim", "hash",
          "lease", "zset",
          "tries", "hash",
          "dead", "hash",
          "why", "hash");

  private static final Pattern OF_TOPIC = Pattern.compile("([^:]*):([a-z]*)(?::(.*))?");

  private static final Pattern DIRTY = Pattern.compile("(.*):([^:]*)");

  private SlotContents() {}

  /**
   * How far it is.
   *
   * @param keys of the whole server that were looked at, about
   * @param ofKeys that it has
   */
  public record Progress(long keys, long ofKeys) {}

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
      Consumer<List<Thing>> page,
      Consumer<Progress> progress) {
    long ofKeys = RedisReply.await(() -> redis.sync().dbsize());
    Pattern ofSlot = Pattern.compile(Pattern.quote("{" + namespace + ":") + "(\\d{1,4})\\}:(.*)");
    ScanArgs args = ScanArgs.Builder.limit(PAGE).match(SlotKeys.bytes("{" + namespace + ":*"));
    ScanCursor at = ScanCursor.INITIAL;
    long looked = 0;
    do {
      ScanCursor from = at;
      KeyScanCursor<byte[]> found = RedisReply.await(() -> redis.sync().scan(from, args));
      List<Thing> things = new ArrayList<>();
      for (byte[] key : found.getKeys()) {
        Matcher matcher = ofSlot.matcher(LuaScript.string(key));
        if (matcher.matches()) {
          add(things, Integer.parseInt(matcher.group(1)), matcher.group(2), slots);
        }
      }
      page.accept(things);
      looked += PAGE;
      progress.accept(new Progress(Math.min(looked, ofKeys), ofKeys));
      at = found;
    } while (!at.isFinished());
  }

  private static void add(List<Thing> to, int slot, String name, int slots) {
    int colon = name.indexOf(':');
    String family = colon < 0 ? name : name.substring(0, colon);
    String of = colon < 0 ? "" : name.substring(colon + 1);
    if (slot >= slots || family.equals("aside")) {
      to.add(new Thing(slot, "any", name, ""));
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
          default -> colon < 0 ? TYPES.getOrDefault(name, "") : "";
        };
    if (type.isEmpty()) {
      return; // of a newer version
    }
    Matcher dirty = DIRTY.matcher(of);
    String owner = family.equals("dirty") && dirty.matches() ? dirty.group(1) : of;
    boolean isOfProcess = family.equals("inflight") || family.equals("sent");
    if (!isOfProcess && colon > 0 && isElsewhere(owner, slot, slots)) {
      to.add(new Thing(slot, "any", name, ""));
      return;
    }
    to.add(new Thing(slot, "key", name, type));
    if (family.equals("own") || family.equals("claimed") || family.equals("inboxes")) {
      to.add(new Thing(slot, family, of, ""));
    } else if (family.equals("dirty") && dirty.matches()) {
      to.add(new Thing(slot, family, dirty.group(1), dirty.group(2)));
    }
  }

  private static void addOfTopic(List<Thing> to, int slot, String name, String of) {
    Matcher matcher = OF_TOPIC.matcher(of);
    if (!matcher.matches()) {
      return;
    }
    boolean isGroup = matcher.group(2).equals("lane");
    String type = isGroup ? "zset" : TYPES_OF_TOPIC.getOrDefault(matcher.group(2), "");
    if (!type.isEmpty()) {
      to.add(new Thing(slot, "key", name, type));
    }
    if (isGroup && matcher.group(3) != null) {
      to.add(new Thing(slot, "group", matcher.group(1), matcher.group(3)));
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
  public static void entries(RedisConnection redis, SlotKeys slot, Consumer<List<Thing>> page) {
    ScanArgs args = ScanArgs.Builder.limit(PAGE);
    Scan scan = new Scan(slot.slot(), page);
    scan.each("due", ScanIterator.zscan(redis.sync(), slot.due(), args), of -> of.getValue());
    scan.each("lease", ScanIterator.zscan(redis.sync(), slot.lease(), args), of -> of.getValue());
    scan.each("claim", ScanIterator.hscan(redis.sync(), slot.claim(), args), of -> of.getKey());
    scan.each("journal", ScanIterator.hscan(redis.sync(), slot.journal(), args), of -> of.getKey());
    scan.each("closing", ScanIterator.sscan(redis.sync(), slot.closing(), args), of -> of);
    scan.each("healing", ScanIterator.sscan(redis.sync(), slot.healing(), args), of -> of);
    scan.each("stale", ScanIterator.sscan(redis.sync(), slot.stale(), args), of -> of);
    list(redis, slot.slot(), slot.ready(), "ready", "", page);
  }

  /** Tells of all messages of a topic in a slot, and of its lanes; throws as {@link #entries}. */
  public static void messages(
      RedisConnection redis, SlotKeys slot, String topic, Consumer<List<Thing>> page) {
    ScanArgs args = ScanArgs.Builder.limit(PAGE);
    String prefix = slot.prefix() + ":t:" + topic + ":";
    OfTopic scan = new OfTopic(new Scan(slot.slot(), page), topic);
    scan.each(
        "message",
        ScanIterator.hscan(redis.sync(), SlotKeys.bytes(prefix + "msg"), args),
        of -> of.getKey());
    scan.each(
        "held",
        ScanIterator.hscan(redis.sync(), SlotKeys.bytes(prefix + "held"), args),
        of -> of.getKey());
    scan.each(
        "lane",
        ScanIterator.zscan(redis.sync(), SlotKeys.bytes(prefix + "due"), args),
        of -> of.getValue());
  }

  /** Tells of all entries of what a writer has claimed in a slot; throws as {@link #entries}. */
  public static void inflight(
      RedisConnection redis, SlotKeys slot, String writer, Consumer<List<Thing>> page) {
    byte[] key = SlotKeys.bytes(slot.prefix() + ":inflight:" + writer);
    list(redis, slot.slot(), key, "inflight", writer, page);
  }

  private static void list(
      RedisConnection redis,
      int slot,
      byte[] key,
      String place,
      String writer,
      Consumer<List<Thing>> page) {
    for (long from = 0; ; from += PAGE) {
      long first = from;
      List<byte[]> some =
          unlessForeign(List.of(), () -> redis.sync().lrange(key, first, first + PAGE - 1));
      List<Thing> things = new ArrayList<>();
      for (byte[] entry : some) {
        String text = LuaScript.string(entry);
        things.add(
            writer.isEmpty()
                ? new Thing(slot, place, text, "")
                : new Thing(slot, place, writer, text));
      }
      page.accept(things);
      if (some.size() < PAGE) {
        return;
      }
    }
  }

  /** A key of the wrong type has no entries: that it is is found by itself. */
  private static <T> T unlessForeign(T otherwise, Supplier<T> question) {
    try {
      return RedisReply.await(question);
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) {
      return otherwise;
    }
  }

  private record OfTopic(Scan scan, String topic) {
    <T> void each(String place, Iterator<T> entries, Function<T, byte[]> more) {
      scan.each(
          entries, of -> new Thing(scan.slot, place, topic, LuaScript.string(more.apply(of))));
    }
  }

  private record Scan(int slot, Consumer<List<Thing>> page) {
    <T> void each(String place, Iterator<T> entries, Function<T, byte[]> name) {
      each(entries, of -> new Thing(slot, place, LuaScript.string(name.apply(of)), ""));
    }

    <T> void each(Iterator<T> entries, Function<T, Thing> thing) {
      List<Thing> things = new ArrayList<>();
      while (unlessForeign(false, entries::hasNext)) {
        things.add(thing.apply(entries.next()));
        if (things.size() == PAGE) {
          page.accept(List.copyOf(things));
          things.clear();
        }
      }
      page.accept(things);
    }
  }
}
