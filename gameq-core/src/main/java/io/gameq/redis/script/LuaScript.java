package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.ClassResource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.Base16;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/**
 * A Lua script from resource files, run by its SHA-1 and loaded again when Redis forgot it.
 * Thread-safe.
 */
public final class LuaScript {
  /**
   * Redis serves nobody else meanwhile: so many of the longest, of a claim or an ack, some
   * milliseconds.
   */
  private static final int MOST_TOGETHER = 12;

  /** Lines of comments: some scripts travel as text. Their line ends stay, for Redis' errors. */
  private static final Pattern COMMENTS = Pattern.compile("(?m)^ *--.*$");

  private static final String EACH = read(LuaScript.class, "each.lua");

  private final Source one;
  private final Source each;

  /** A text that Redis runs. */
  private record Source(String text, String sha1) {
    static Source of(String text) {
      return new Source(text, Base16.digest(utf8(text)));
    }

    Object run(
        RedisConnection redis, ScriptOutputType output, List<byte[]> keys, List<byte[]> args) {
      byte[][] names = keys.toArray(byte[][]::new);
      byte[][] argv = args.toArray(byte[][]::new);
      try {
        return redis.sync().evalsha(sha1, output, names, argv);
      } catch (RedisNoScriptException e) {
        return RedisReply.await(() -> redis.sync().eval(utf8(text), output, names, argv));
      } catch (RedisException e) {
        throw RedisReply.exception(e);
      }
    }
  }

  private LuaScript(String functions, String script, String names) {
    this.one = Source.of(functions + script + names);
    this.each =
        Source.of(
            functions + "local function script(KEYS, ARGV)\n" + script + "end\n" + EACH + names);
  }

  /**
   * Joins resource files, beside a class or here; {@code slot.lua} is put in front. The last one is
   * the script, those before it have its functions. The last line names them, for whoever meets the
   * script in Redis.
   */
  public static LuaScript of(Class<?> beside, String... resources) {
    StringBuilder functions = new StringBuilder(read(LuaScript.class, "slot.lua"));
    int last = resources.length - 1;
    for (int i = 0; i < last; i++) {
      functions.append(read(beside, resources[i]));
    }
    return new LuaScript(
        functions.toString(),
        read(beside, resources[last]),
        "-- slot.lua " + String.join(" ", resources));
  }

  /**
   * The whole script, for EVAL inside a pipeline, where a missing script could not be loaded in
   * time.
   */
  public byte[] text() {
    return utf8(one.text);
  }

  /** What {@link #callEach} sends. */
  public byte[] textOfEach() {
    return utf8(each.text);
  }

  /**
   * Runs the script and waits for its reply.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; then the script may have
   *     been applied
   * @throws io.gameq.GameQueueException when Redis refuses
   */
  public List<Object> call(RedisConnection redis, SlotKeys slot, Object... args) {
    return call(redis, SlotKeys.bytes(slot.prefix()), args);
  }

  /** The same with a key of no slot. */
  public List<Object> call(RedisConnection redis, byte[] key, Object... args) {
    return call(redis, new byte[][] {key}, args);
  }

  /** The same with several. */
  @SuppressWarnings("unchecked") // what MULTI stands for
  public List<Object> call(RedisConnection redis, byte[][] keys, Object... args) {
    return (List<Object>)
        one.run(redis, ScriptOutputType.MULTI, List.of(keys), args(List.of(args)));
  }

  /** ARGV: ids as they are encoded, 1 for true, the members of a list one by one. */
  private static List<byte[]> args(Collection<?> values) {
    List<byte[]> args = new ArrayList<>(values.size());
    values.forEach(value -> add(args, value));
    return args;
  }

  private static void add(List<byte[]> to, Object value) {
    if (value instanceof byte[] bytes) {
      to.add(bytes);
    } else if (value instanceof Collection<?> all) {
      all.forEach(of -> add(to, of));
    } else if (value instanceof OwnerId owner) {
      to.add(SlotKeys.bytes(owner.encoded()));
    } else if (value instanceof SessionId session) {
      to.add(SlotKeys.bytes(session.text()));
    } else if (value instanceof Boolean is) {
      to.add(SlotKeys.bytes(is ? "1" : "0"));
    } else {
      to.add(value.toString().getBytes(ISO_8859_1));
    }
  }

  /** A list in pieces, since a script holds Redis for as long as it takes. */
  public static <T> List<List<T>> pieces(List<T> all, int most) {
    List<List<T>> pieces = new ArrayList<>();
    for (int from = 0; from < all.size(); from += most) {
      pieces.add(all.subList(from, Math.min(all.size(), from + most)));
    }
    return pieces;
  }

  /** A call on one slot, or several. */
  public record Call(List<SlotKeys> slots, List<?> args) {
    public Call(SlotKeys slot, List<?> args) {
      this(List.of(slot), args);
    }

    private List<byte[]> keys() {
      return slots.stream().map(of -> SlotKeys.bytes(of.prefix())).toList();
    }
  }

  /**
   * What one of several calls answered.
   *
   * @param error why it did not; as {@link #call} throws it
   */
  public record Answer<T>(@Nullable T reply, @Nullable GameQueueException error) {
    /** The same, read. */
    public <R> Answer<R> map(Function<T, R> reading) {
      return new Answer<>(reply == null ? null : reading.apply(reply), error);
    }

    /** The reply; throws if there is none. */
    public T get() {
      if (error != null) {
        throw error;
      }
      return Objects.requireNonNull(reply);
    }
  }

  /**
   * Runs the script for several calls, one after the other, some in each round trip: each answers
   * or fails by itself.
   */
  public List<Answer<List<Object>>> callEach(RedisConnection redis, List<Call> calls) {
    List<Answer<List<Object>>> answers = new ArrayList<>(calls.size());
    for (List<Call> some : pieces(calls, MOST_TOGETHER)) {
      List<byte[]> keys = new ArrayList<>(some.size());
      List<byte[]> argv = new ArrayList<>();
      for (Call call : some) {
        List<byte[]> args = args(call.args);
        argv.add(number(call.slots.size()));
        argv.add(number(args.size()));
        keys.addAll(call.keys());
        argv.addAll(args);
      }
      try {
        unpack((byte[]) each.run(redis, ScriptOutputType.VALUE, keys, argv))
            .forEach(answer -> answers.add(answer((List<?>) answer)));
      } catch (GameQueueException e) {
        some.forEach(of -> answers.add(new Answer<>(null, e)));
      }
    }
    return answers;
  }

  /** Lists, numbers as Long and strings as bytes, as a reply of Redis has them. */
  private static List<?> unpack(byte[] packed) {
    try (MessageUnpacker from = MessagePack.newDefaultUnpacker(packed)) {
      return (List<?>) Objects.requireNonNull(unpack(from));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As Redis turns what a script returns into a reply: no fractions, 1 for true, nil for false. */
  private static @Nullable Object unpack(MessageUnpacker from) throws IOException {
    return switch (from.getNextFormat().getValueType()) {
      case INTEGER -> from.unpackLong();
      case FLOAT -> (long) from.unpackDouble();
      case BOOLEAN -> from.unpackBoolean() ? 1L : null;
      case ARRAY -> {
        int size = from.unpackArrayHeader();
        List<@Nullable Object> list = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
          list.add(unpack(from));
        }
        yield list;
      }
      default -> from.readPayload(from.unpackRawStringHeader());
    };
  }

  @SuppressWarnings("unchecked") // what a script returns, as call gives it
  private static Answer<List<Object>> answer(List<?> of) {
    return (Long) of.get(0) == 1
        ? new Answer<>((List<Object>) of.get(1), null)
        : new Answer<>(
            null, RedisReply.exception(new RedisCommandExecutionException(text(of.get(1)))));
  }

  /** Has Redis know the script, so that {@link #send} finds it. */
  void load(RedisConnection redis) {
    RedisReply.await(() -> redis.sync().scriptLoad(text()));
  }

  /**
   * Sends calls behind the script itself, without waiting; for their replies in order. Others may
   * use the connection meanwhile.
   */
  List<CompletionStage<List<Object>>> loadAndSend(RedisConnection redis, List<Call> calls) {
    return RedisReply.await(
        () -> {
          RedisFuture<String> unused = redis.async().scriptLoad(text());
          return calls.stream().map(of -> send(redis, of)).toList();
        });
  }

  private CompletionStage<List<Object>> send(RedisConnection redis, Call call) {
    return send(redis, call.keys(), args(call.args));
  }

  /** Sends the script by its SHA-1 without waiting: {@link #load} it first on this connection. */
  CompletionStage<List<Object>> send(RedisConnection redis, List<byte[]> keys, List<byte[]> args) {
    return redis
        .async()
        .evalsha(
            one.sha1,
            ScriptOutputType.MULTI,
            keys.toArray(byte[][]::new),
            args.toArray(byte[][]::new));
  }

  /** Whether a call failed since Redis has forgotten the script: nothing of it was applied. */
  static boolean isForgotten(Throwable error) {
    return (error instanceof CompletionException ? error.getCause() : error)
        instanceof RedisNoScriptException;
  }

  /** What a call answers; null where Redis refuses, as for somebody else's value. */
  public static <T> @Nullable T unlessForeign(Supplier<@Nullable T> question) {
    try {
      return RedisReply.<@Nullable T>await(question);
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) {
      return null;
    }
  }

  /** Text as an argument. */
  public static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  /** A version as scripts compare it. */
  public static byte[] version(long version) {
    return SlotKeys.bytes(HexFormat.of().toHexDigits(version));
  }

  static byte[] number(long value) {
    return SlotKeys.bytes(Long.toString(value));
  }

  /** A bulk reply as text. */
  public static String string(Object reply) {
    return new String((byte[]) reply, ISO_8859_1);
  }

  /** The same of any characters. */
  public static String text(Object reply) {
    return new String((byte[]) reply, UTF_8);
  }

  /** Rows from a flat list of field, value, field, value ... */
  public static List<EncodedRow> rows(Object flat) {
    List<?> list = (List<?>) flat;
    List<EncodedRow> rows = new ArrayList<>(list.size() / 2);
    for (int i = 0; i < list.size(); i += 2) {
      rows.add(new EncodedRow(string(list.get(i)), (byte[]) list.get(i + 1)));
    }
    return rows;
  }

  private static String read(Class<?> beside, String resource) {
    boolean isThere = beside.getResource(resource) != null;
    return COMMENTS
        .matcher(ClassResource.text(isThere ? beside : LuaScript.class, resource))
        .replaceAll("");
  }
}
