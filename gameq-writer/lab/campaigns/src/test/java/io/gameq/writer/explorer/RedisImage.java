package io.gameq.writer.explorer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.redis.RedisConnection;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that Redis holds of one namespace, without times: every due time and lease deadline
 * has passed, since any of them may pass at any moment.
 */
record RedisImage(TreeMap<String, Value> keys) {
  private static final byte[] TAKE =
      bytes(
          """
          local all = {}
          for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
            local kind, value = redis.call('TYPE', key).ok, nil
            if kind == 'string' then value = {redis.call('GET', key)}
            elseif kind == 'hash' then value = redis.call('HGETALL', key)
            elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
            elseif kind == 'set' then value = redis.call('SMEMBERS', key)
            else value = redis.call('ZRANGE', key, 0, -1) end
            all[#all + 1] = {key, kind, value}
          end
          return all
          """);

  private static final byte[] PUT =
      bytes(
          """
          for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
          local at = 2
          while at <= #ARGV do
            local key, kind, items = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
            for i = at + 3, at + 2 + items do
              if kind == 'string' then redis.call('SET', key, ARGV[i])
              elseif kind == 'hash' then if (i - at) % 2 == 1 then redis.call('HSET', key, \
              ARGV[i], ARGV[i + 1]) end
              elseif kind == 'list' then redis.call('RPUSH', key, ARGV[i])
              elseif kind == 'set' then redis.call('SADD', key, ARGV[i])
              else redis.call('ZADD', key, 0, ARGV[i]) end
            end
            at = at + 3 + items
          end
          return 1
          """);

  /** One key; a hash as field, value, field, value ... */
  record Value(String kind, List<String> items) {}

  static RedisImage take(RedisConnection redis, String namespace) {
    List<Object> all =
        redis.sync().eval(TAKE, ScriptOutputType.MULTI, new byte[0][], pattern(namespace));
    TreeMap<String, Value> keys = new TreeMap<>();
    for (Object entry : all) {
      List<?> parts = (List<?>) entry;
      String kind = text(parts.get(1));
      List<String> items = ((List<?>) parts.get(2)).stream().map(RedisImage::text).toList();
      keys.put(text(parts.get(0)), new Value(kind, sorted(kind, items)));
    }
    return new RedisImage(keys);
  }

  private static List<String> sorted(String kind, List<String> items) {
    if (kind.equals("hash")) {
      Map<String, String> fields = new TreeMap<>();
      for (int i = 0; i < items.size(); i += 2) {
        fields.put(items.get(i), items.get(i + 1));
      }
      List<String> flat = new ArrayList<>();
      fields.forEach(
          (field, value) -> {
            flat.add(field);
            flat.add(value);
          });
      return flat;
    }
    return kind.equals("list") ? items : items.stream().sorted().toList();
  }

  /** Makes Redis hold this and nothing else in the namespace. */
  void put(RedisConnection redis, String namespace) {
    List<byte[]> args = new ArrayList<>();
    args.add(pattern(namespace));
    keys.forEach(
        (key, value) -> {
          args.add(bytes(key));
          args.add(bytes(value.kind));
          args.add(bytes(Integer.toString(value.items.size())));
          value.items.forEach(item -> args.add(bytes(item)));
        });
    redis.sync().eval(PUT, ScriptOutputType.INTEGER, new byte[0][], args.toArray(byte[][]::new));
  }

  /** The items of the key with this ending, none when there is no such key. */
  List<String> items(String keyEnding) {
    return keys.entrySet().stream()
        .filter(e -> e.getKey().endsWith(keyEnding))
        .flatMap(e -> e.getValue().items.stream())
        .toList();
  }

  /** The names, behind the slot's prefix, of the keys that begin with a word. */
  List<String> names(String word) {
    return keys.keySet().stream()
        .map(key -> key.substring(key.indexOf('}') + 2))
        .filter(name -> name.startsWith(word))
        .toList();
  }

  /**
   * A text that is equal for states which behave alike: claim tokens count by whose they are, and
   * attempts only delay.
   *
   * @param tokenNames names of the tokens that workers hold
   */
  String text(Map<String, String> tokenNames) {
    StringBuilder text = new StringBuilder();
    keys.forEach(
        (key, value) -> {
          String name = key.substring(key.indexOf('}') + 2);
          text.append(name).append('=');
          if (name.equals("claim")) {
            for (String item : value.items) {
              String[] record = item.split(" ", -1);
              text.append(
                  record.length < 4
                      ? item
                      : tokenNames.getOrDefault(record[0], record[0].equals("-") ? "-" : "gone")
                          + record[1]
                          + record[3]);
              text.append(' ');
            }
          } else {
            value.items.forEach(item -> text.append(item).append(' '));
          }
          text.append('\n');
        });
    return text.toString();
  }

  /** Everything that a reader can see. */
  String rows() {
    StringBuilder text = new StringBuilder();
    keys.forEach(
        (key, value) -> {
          if (key.contains("}:own:") || key.contains("}:dirty:") || key.contains("}:claimed:")) {
            text.append(key).append(value);
          }
        });
    return text.toString();
  }

  private static byte[] pattern(String namespace) {
    return bytes("{" + namespace + ":*");
  }

  static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String text(Object bytes) {
    return new String((byte[]) bytes, ISO_8859_1);
  }
}
