package io.gameq.rows;

import io.gameq.Converter;
import io.gameq.GameQueueException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.function.UnaryOperator;

/** A component that the game's own converter converts. Thread-safe as that is. */
final class ByConverter implements Conversion {
  private final Converter<Object, Object> converter;
  private final String what;

  private ByConverter(Converter<Object, Object> converter, String what) {
    this.converter = converter;
    this.what = what;
  }

  /** Throws GameQueueException when no object of the class can be made. */
  static Conversion of(
      Class<? extends Converter<?, ?>> type, RecordComponent component, Column column) {
    String what =
        "converter %s of component %s and %s"
            .formatted(type.getName(), component.getName(), column.label());
    try {
      Object made =
          MethodHandles.privateLookupIn(type, MethodHandles.lookup())
              .findConstructor(type, MethodType.methodType(void.class))
              .invoke();
      @SuppressWarnings("unchecked") // What it takes and returns shows when it does.
      Converter<Object, Object> converter = (Converter<Object, Object>) made;
      return new ByConverter(converter, what);
    } catch (Throwable e) {
      throw new GameQueueException(
          what
              + " cannot be made: it needs a constructor without parameters, and its package open"
              + " to gameq",
          e);
    }
  }

  @Override
  public Object toColumn(Object component) {
    return convert(component, converter::toColumn);
  }

  @Override
  public Object fromColumn(Object canonical) {
    return convert(canonical, converter::fromColumn);
  }

  private Object convert(Object from, UnaryOperator<Object> way) {
    Object to;
    try {
      to = way.apply(from);
    } catch (ClassCastException e) {
      throw new GameQueueException(
          "%s takes no %s".formatted(what, from.getClass().getSimpleName()), e);
    }
    if (to == null) {
      throw new GameQueueException(what + " returned null");
    }
    return to;
  }
}
