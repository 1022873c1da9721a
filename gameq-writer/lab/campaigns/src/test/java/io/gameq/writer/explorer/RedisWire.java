package io.gameq.writer.explorer;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A Redis connection on which scripts pass the plant, which may change their text. */
final class RedisWire {
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

  /** Of a script seen before; else one that Redis does not know: the caller sends its text then. */
  private String plantedSha(String sha) {
    return planted.getOrDefault(sha, "0".repeat(40));
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
