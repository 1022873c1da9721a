package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What Redis holds of one topic in one slot. Immutable. Times that are taken from the clock are
 * evened out: what is due is due, or due seconds later, a lease lasts until the explorer ends it,
 * and a process is there (1) or has been silent for 15 s (0).
 */
record TopicImage(TreeMap<String, List<String>> keys) {
  static final TopicImage EMPTY = new TopicImage(new TreeMap<>());

  private static final List<String> HASHES =
      List.of(
          "msg", "held", "claim", "tries", "dead", "why", "done", "journal", "handlers", "alive");
  private static final List<String> SETS =
      List.of("due", "ready", "behind", "lease", "lane:g", "lane:h", "unhandled", "for:A", "for:B");

  /** When a lane is due of which that is seconds from now. */
  private static final String LATER = "8000000000000";

  private static final String DUE = "1000000000000";

  /** KEYS[1] prefix of the slot; ARGV[1] topic; puts or returns: key, number of items, items ... */
  private static final String NAMES =
      """
      local function name(of)
        if of == 'journal' then return KEYS[1] .. ':journal' end
        return KEYS[1] .. ':t:' .. ARGV[1] .. ':' .. of
      end
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      """;

  static final String TAKE =
      NAMES
          + "local all = {}\n"
          + lua("HASHES", HASHES)
          + lua("SETS", SETS)
          + """
          for _, key in ipairs(HASHES) do
            local items = redis.call('HGETALL', name(key))
            if key == 'alive' then
              for i = 2, #items, 2 do items[i] = now - tonumber(items[i]) < 14000 and '1' or '0' end
            end
            if #items > 0 then all[#all + 1] = {key, items} end
          end
          for _, key in ipairs(SETS) do
            local items = redis.call('ZRANGE', name(key), 0, -1, 'WITHSCORES')
            if key == 'due' or key == 'lane:g' then
              for i = 2, #items, 2 do
                if tonumber(items[i]) > now + 1000 then items[i] = '8000000000000' end
              end
            end
            if #items > 0 then all[#all + 1] = {key, items} end
          end
          return all
          """;

  static final String PUT =
      NAMES
          + lua("HASHES", HASHES)
          + lua("SETS", SETS)
          + """
          local hash = {}
          for _, key in ipairs(HASHES) do redis.call('DEL', name(key)) hash[key] = true end
          for _, key in ipairs(SETS) do redis.call('DEL', name(key)) end
          local at = 2
          while at <= #ARGV do
            local key = ARGV[at]
            for i = at + 2, at + 1 + tonumber(ARGV[at + 1]), 2 do
              if key == 'alive' then
                local said = now - (1 - ARGV[i + 1]) * 15000
                redis.call('HSET', name(key), ARGV[i], string.format('%.0f', said))
              elseif hash[key] then redis.call('HSET', name(key), ARGV[i], ARGV[i + 1])
              else redis.call('ZADD', name(key), ARGV[i + 1], ARGV[i]) end
            end
            at = at + 2 + tonumber(ARGV[at + 1])
          end
          return {}
          """;

  private static String lua(String name, List<String> of) {
    return "local " + name + " = {'" + String.join("', '", of) + "'}\n";
  }

  static TopicImage of(List<Object> reply) {
    TreeMap<String, List<String>> keys = new TreeMap<>();
    for (Object entry : reply) {
      List<?> of = (List<?>) entry;
      String key = text(of.get(0));
      TreeMap<String, String> items = new TreeMap<>();
      List<?> flat = (List<?>) of.get(1);
      for (int i = 0; i < flat.size(); i += 2) {
        items.put(text(flat.get(i)), even(key, text(flat.get(i + 1))));
      }
      List<String> sorted = new ArrayList<>();
      items.forEach(
          (name, value) -> {
            sorted.add(name);
            sorted.add(value);
          });
      keys.put(key, List.copyOf(sorted));
    }
    return new TopicImage(keys);
  }

  private static String even(String key, String value) {
    if (key.equals("lease")) {
      return value.length() > 1 ? "9000000000000" : value;
    }
    return HASHES.contains(key) && !key.equals("claim")
        ? value
        : value.replaceAll("\\b1[0-9]{12}\\b", DUE);
  }

  /** Arguments of {@link #PUT}. */
  List<String> arguments() {
    List<String> args = new ArrayList<>();
    keys.forEach(
        (key, items) -> {
          args.add(key);
          args.add(Integer.toString(items.size()));
          args.addAll(items);
        });
    return args;
  }

  /** A field of a hash, or a score; null when it is not there. */
  @Nullable String get(String key, String name) {
    List<String> items = Objects.requireNonNullElse(keys.get(key), List.of());
    for (int i = 0; i < items.size(); i += 2) {
      if (items.get(i).equals(name)) {
        return items.get(i + 1);
      }
    }
    return null;
  }

  /** Whether a lane is held under a lease that lasts. */
  boolean isHeld(String lane) {
    String lease = get("lease", lane);
    return lease != null && lease.length() > 1;
  }

  /** Whether this token is that of the claim of a message. */
  boolean isClaimedBy(String token, String lane, String id) {
    String claim = get("claim", lane);
    return claim != null && claim.startsWith(token + " " + id + " ");
  }

  /** The lanes that are held under leases that last. */
  List<String> heldLanes() {
    List<String> lanes = new ArrayList<>();
    List<String> items = Objects.requireNonNullElse(keys.get("lease"), List.of());
    for (int i = 0; i < items.size(); i += 2) {
      if (items.get(i + 1).length() > 1) {
        lanes.add(items.get(i));
      }
    }
    return lanes;
  }

  /** The same with a lease that has run out. */
  TopicImage lapsed(String lane) {
    return with("lease", lane, "1");
  }

  /** The same with another value, or score, of what is there. */
  TopicImage with(String key, String name, String value) {
    TreeMap<String, List<String>> changed = new TreeMap<>(keys);
    List<String> items = new ArrayList<>(Objects.requireNonNull(keys.get(key)));
    for (int i = 0; i < items.size(); i += 2) {
      if (items.get(i).equals(name)) {
        items.set(i + 1, value);
      }
    }
    changed.put(key, List.copyOf(items));
    return new TopicImage(changed);
  }

  /** The same without a key. */
  TopicImage without(String key) {
    TreeMap<String, List<String>> changed = new TreeMap<>(keys);
    changed.remove(key);
    return new TopicImage(changed);
  }

  /** The same seconds later: what is due later is due. */
  TopicImage secondsLater() {
    TreeMap<String, List<String>> changed = new TreeMap<>(keys);
    changed.replaceAll(
        (key, items) -> items.stream().map(of -> of.equals(LATER) ? DUE : of).toList());
    return new TopicImage(changed);
  }

  private static String text(Object reply) {
    return new String((byte[]) reply, ISO_8859_1);
  }
}
