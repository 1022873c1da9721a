package io.gameq.writer.explorer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisConnection;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A Redis connection on which scripts pass the plant, which may change their text. */
final class RedisWire {
  private static final String SHA_LENGTH = "$40\r\n";

  private final RedisConnection real;
  private final Plant plant;
  private final Map<String, String> planted = new ConcurrentHashMap<>();

  private RedisWire(RedisConnection real, Plant plant) {
    this.real = real;
    this.plant = plant;
  }

  static RedisConnection of(RedisConnection real, Plant plant) {
    return plant.editsScripts() ? new RedisWire(real, plant).connection() : real;
  }

  @SuppressWarnings("unchecked")
  private RedisConnection connection() {
    Object sync = commands(RedisCommands.class, real.sync());
    Object async = commands(RedisAsyncCommands.class, real.async());
    return new RedisConnection(
        (StatefulRedisConnection<byte[], byte[]>)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (self, method, args) ->
                    switch (method.getName()) {
                      case "sync" -> sync;
                      case "async" -> async;
                      case "dispatch" ->
                          args != null && args[0] instanceof Collection<?> commands
                              ? real.dispatch(commands.stream().map(this::planted).toList())
                              : invoke(real.client(), method, args);
                      default -> invoke(real.client(), method, args);
                    }));
  }

  private Object commands(Class<?> type, Object target) {
    return Proxy.newProxyInstance(
        getClass().getClassLoader(),
        new Class<?>[] {type},
        (self, method, args) -> {
          if (method.getName().equals("evalsha")) {
            Object[] changed = Objects.requireNonNull(args).clone();
            changed[0] = plantedSha((String) changed[0]);
            return invoke(target, method, changed);
          }
          if (method.getName().equals("eval") || method.getName().equals("scriptLoad")) {
            Object[] changed = Objects.requireNonNull(args).clone();
            changed[0] = plantedText((byte[]) changed[0]);
            return invoke(target, method, changed);
          }
          return invoke(target, method, args);
        });
  }

  /** A call of a script with the planted one's SHA-1, which is as long; else as it is. */
  @SuppressWarnings("unchecked")
  private RedisCommand<byte[], byte[], ?> planted(Object command) {
    RedisCommand<byte[], byte[], Object> sent = (RedisCommand<byte[], byte[], Object>) command;
    if (sent.getType() != CommandType.EVALSHA) {
      return sent;
    }
    return new CommandWrapper<byte[], byte[], Object>(sent) {
      @Override
      public void encode(ByteBuf to) {
        ByteBuf own = Unpooled.buffer();
        super.encode(own);
        String text = own.toString(ISO_8859_1);
        int at = text.indexOf(SHA_LENGTH) + SHA_LENGTH.length();
        String sha = text.substring(at, at + 40);
        String known = planted.getOrDefault(sha, "0".repeat(40)); // NOSCRIPT: its text comes then
        to.writeCharSequence(text.substring(0, at) + known + text.substring(at + 40), ISO_8859_1);
      }
    };
  }

  /** Of a script seen before; else the caller sends its text. */
  private String plantedSha(String sha) {
    String known = planted.get(sha);
    if (known == null) {
      throw new RedisNoScriptException("NOSCRIPT not planted yet");
    }
    return known;
  }

  private byte[] plantedText(byte[] text) {
    byte[] changed = plant.lua(new String(text, UTF_8)).getBytes(UTF_8);
    planted.put(real.sync().digest(text), real.sync().scriptLoad(changed));
    return changed;
  }

  private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] args)
      throws Throwable {
    try {
      return method.invoke(target, args);
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }
}
