package io.gameq.spring;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The queue that beans are given: it hands on to the one that is open now, and throws while there
 * is none. Thread-safe.
 */
final class QueueOfContext implements InvocationHandler {
  private final AtomicReference<@Nullable GameQueue> open = new AtomicReference<>();

  /** The bean. */
  final GameQueue bean =
      (GameQueue)
          Proxy.newProxyInstance(
              GameQueue.class.getClassLoader(), new Class<?>[] {GameQueue.class}, this);

  void opened(GameQueue queue) {
    open.set(queue);
  }

  /** Takes the open one away; null when there is none. */
  @Nullable GameQueue take() {
    return open.getAndSet(null);
  }

  /** The one that is open now; null when there is none. */
  @Nullable GameQueue now() {
    return open.get();
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    if (method.getDeclaringClass() == Object.class) {
      return switch (method.getName()) {
        case "equals" -> arguments != null && proxy == arguments[0];
        case "hashCode" -> System.identityHashCode(proxy);
        default -> "GameQueue of the Spring context, " + (now() == null ? "not open" : "open");
      };
    }
    GameQueue queue = now();
    if (queue == null) {
      throw new GameQueueException(
          "the queue is not open: use it after the start of the context, as from a"
              + " GameQueueListener; the log says why it could not be opened, if so");
    }
    try {
      return method.invoke(queue, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
