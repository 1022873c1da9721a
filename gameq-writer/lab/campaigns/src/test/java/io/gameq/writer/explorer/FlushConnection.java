package io.gameq.writer.explorer;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One lasting connection behind a DataSource: statements pass the plant, which may change their
 * text, and the gate of the flush that runs on it, if one does.
 */
final class FlushConnection {
  private final Connection real;
  private final Plant plant;
  private @Nullable Gate gate;
  private List<OwnerRows> rows = List.of();

  FlushConnection(Connection real, Plant plant) {
    this.real = real;
    this.plant = plant;
  }

  /** From now on everything waits at this gate. */
  void gate(@Nullable Gate next, List<OwnerRows> flushed) {
    gate = next;
    rows = flushed;
  }

  MySql mysql() {
    Connection connection = proxy(Connection.class, this::onConnection);
    return new MySql(
        proxy(
            DataSource.class,
            (method, args) -> {
              if (method.getName().equals("getConnection")) {
                return connection;
              }
              throw new UnsupportedOperationException(method.toString());
            }));
  }

  private interface Handler {
    @Nullable Object call(Method method, Object @Nullable [] args) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) ->
                switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(self);
                  case "equals" -> self == Objects.requireNonNull(args)[0];
                  case "toString" -> "explorer's " + type.getSimpleName();
                  default -> handler.call(method, args);
                }));
  }

  private @Nullable Object onConnection(Method method, Object @Nullable [] args) throws Throwable {
    switch (method.getName()) {
      case "setAutoCommit" -> { // a flush's connection is in a transaction all the time
        return gate == null ? invoke(real, method, args) : null;
      }
      case "close" -> {
        return null;
      }
      case "commit" -> {
        return gated(Gate.Stop.COMMIT, real, method, args);
      }
      case "prepareStatement" -> {
        Object[] planted = Objects.requireNonNull(args).clone();
        planted[0] = plant.sql((String) planted[0], rows);
        PreparedStatement statement =
            (PreparedStatement) Objects.requireNonNull(invoke(real, method, planted));
        return proxy(
            PreparedStatement.class,
            (of, values) ->
                of.getName().startsWith("execute")
                    ? gated(Gate.Stop.STATEMENT, statement, of, values)
                    : invoke(statement, of, values));
      }
      default -> {
        return invoke(real, method, args);
      }
    }
  }

  private @Nullable Object gated(
      Gate.Stop stop, Object target, Method method, Object @Nullable [] args) throws Throwable {
    Gate at = gate;
    return at == null
        ? invoke(target, method, args)
        : at.pass(stop, () -> Objects.requireNonNullElse(invoke(target, method, args), Void.TYPE));
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
