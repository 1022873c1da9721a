package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Marks of message commits: how far into a WAL Redis holds those of its commits that change
 * messages, in one slot, and what it lacks before that. Plain commands. Stateless.
 */
public final class MessageMarks {
  private static final String HOLES = "!";

  /** Follows a WAL's id where it stands when its process was first seen to be gone, in seconds. */
  private static final String SEEN_DEAD = "@";

  /**
   * How long marks of processes that are gone are kept. Longer than messages of a left WAL may be
   * replayed, {@link io.gameq.healing.LeftMessages#OLDEST}: without marks all would be.
   */
  public static final Duration KEPT = Duration.ofDays(7);

  private MessageMarks() {}

  /** Commits above {@code after} up to {@code to} that Redis has refused. */
  public record Hole(long after, long to) {}

  /**
   * What Redis holds of a WAL in a slot. Immutable.
   *
   * @param mark sequence of the newest commit with messages; 0 when there is none
   * @param holes before it, ascending
   */
  public record Marks(long mark, List<Hole> holes) {
    /** Whether Redis does not hold a commit. */
    public boolean lacks(long sequence) {
      return sequence > mark
          || holes.stream().anyMatch(hole -> hole.after < sequence && sequence <= hole.to);
    }

    /** Redis holds all up to this sequence. */
    public long lacksAfter() {
      return holes.isEmpty() ? mark : Math.min(mark, holes.get(0).after);
    }
  }

  /**
   * The marks of a WAL in each of these slots, in one go over a connection that no other thread
   * uses meanwhile.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Marks[] read(RedisConnection redis, SlotKeys[] slots, String walId) {
    List<CompletionStage<List<KeyValue<byte[], byte[]>>>> sent = new ArrayList<>();
    redis.inOneGo(
        () -> {
          for (SlotKeys slot : slots) {
            sent.add(redis.async().hmget(key(slot), fields(walId)));
          }
        });
    return sent.stream().map(of -> marks(RedisReply.await(of))).toArray(Marks[]::new);
  }

  private static Marks marks(List<KeyValue<byte[], byte[]>> of) {
    List<Hole> holes = new ArrayList<>();
    if (of.get(1).hasValue()) {
      for (String hole : LuaScript.string(of.get(1).getValue()).split(" ", -1)) {
        int dash = hole.indexOf('-');
        holes.add(
            new Hole(
                Long.parseLong(hole.substring(0, dash)), Long.parseLong(hole.substring(dash + 1))));
      }
    }
    long mark = of.get(0).hasValue() ? Long.parseLong(LuaScript.string(of.get(0).getValue())) : 0;
    return new Marks(mark, List.copyOf(holes));
  }

  /** Removes the marks of a WAL; returns how many fields there were. */
  public static int forget(RedisConnection redis, SlotKeys[] slots, String walId) {
    List<CompletionStage<Long>> removed = new ArrayList<>();
    for (SlotKeys slot : slots) {
      removed.add(redis.async().hdel(key(slot), fields(walId)));
    }
    return removed.stream().mapToInt(of -> RedisReply.await(of).intValue()).sum();
  }

  /**
   * Removes the marks of processes that have given no sign of life for seven days: until then their
   * WALs may be replayed, and what was handled is not to come back. Returns how many WALs it were.
   */
  static int forgetDead(RedisConnection redis, String namespace, SlotKeys slot) {
    Map<String, Long> seenDead = new HashMap<>();
    redis
        .sync()
        .hgetall(key(slot))
        .forEach(
            (field, value) -> {
              String name = LuaScript.string(field);
              boolean isStamp = name.endsWith(SEEN_DEAD);
              String walId = name.replace(HOLES, "").replace(SEEN_DEAD, "");
              seenDead.merge(
                  walId, isStamp ? Long.parseLong(LuaScript.string(value)) : 0, Math::max);
            });
    long now = seenDead.isEmpty() ? 0 : seconds(redis);
    int removed = 0;
    for (Map.Entry<String, Long> wal : seenDead.entrySet()) {
      String process = NodeSigns.processOfWal(wal.getKey());
      byte[] stamp = SlotKeys.bytes(wal.getKey() + SEEN_DEAD);
      if (redis.sync().exists(NodeSigns.key(namespace, process)) > 0) {
        if (wal.getValue() > 0) {
          redis.sync().hdel(key(slot), stamp);
        }
      } else if (wal.getValue() == 0) {
        redis.sync().hset(key(slot), stamp, SlotKeys.bytes(Long.toString(now)));
      } else if (now - wal.getValue() > KEPT.toSeconds()) {
        redis.sync().hdel(key(slot), fields(wal.getKey()));
        removed++;
      }
    }
    return removed;
  }

  private static long seconds(RedisConnection redis) {
    return Long.parseLong(LuaScript.string(redis.sync().time().get(0)));
  }

  private static byte[] key(SlotKeys slot) {
    return SlotKeys.bytes(slot.prefix() + ":mjournal");
  }

  private static byte[][] fields(String walId) {
    return new byte[][] {
      SlotKeys.bytes(walId), SlotKeys.bytes(walId + HOLES), SlotKeys.bytes(walId + SEEN_DEAD)
    };
  }
}
