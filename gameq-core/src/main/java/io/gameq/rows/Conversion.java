package io.gameq.rows;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How a record component becomes what its column takes, and back. Thread-safe. */
interface Conversion {
  /** What the column takes for a component that is not null; null for NULL. */
  @Nullable Object toColumn(Object component);

  /**
   * The component of a canonical value that is not NULL. Throws ArithmeticException or
   * IllegalArgumentException when the component cannot hold it.
   */
  Object fromColumn(Object canonical);

  /** The component of NULL. */
  default @Nullable Object fromNull() {
    return null;
  }

  /** Of a component that the column takes as it is. */
  static Conversion reading(Function<Object, Object> reader) {
    return new Conversion() {
      @Override
      public Object toColumn(Object component) {
        return component;
      }

      @Override
      public Object fromColumn(Object canonical) {
        return reader.apply(canonical);
      }
    };
  }
}
