package io.gameq.rows;

import io.gameq.ColumnConverter;
import io.gameq.records.PackedValue;
import io.gameq.records.PackedValues;
import io.gameq.rows.types.ColumnType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds how a record component is converted. Stateless. */
final class Conversions {
  private Conversions() {}

  /**
   * The conversion of a component, or null when it does not go with its column.
   *
   * @throws io.gameq.GameQueueException when its converter cannot be made, or a record in a JSON
   *     column holds what JSON does not
   */
  static @Nullable Conversion of(RecordComponent component, Column column) {
    ColumnConverter named = component.getAnnotation(ColumnConverter.class);
    return named != null
        ? ByConverter.of(named.value(), component, column)
        : of(component.getGenericType(), column);
  }

  private static @Nullable Conversion of(Type type, Column column) {
    ColumnType.Kind kind = column.type().kind();
    if (type instanceof ParameterizedType generic && generic.getRawType().equals(Optional.class)) {
      Conversion inner = of(generic.getActualTypeArguments()[0], column);
      return inner == null ? null : optional(inner);
    }
    boolean mayBeJson = kind == ColumnType.Kind.JSON || kind == ColumnType.Kind.TEXT;
    if (mayBeJson && isOfJson(type)) {
      PackedValue packed = PackedValues.of(type);
      return packed == null ? null : new JsonConversion(packed, column.label());
    }
    Function<Object, Object> reader = Components.reader(type, kind);
    return reader == null ? null : Conversion.reading(reader);
  }

  private static boolean isOfJson(Type type) {
    return type instanceof ParameterizedType || (type instanceof Class<?> of && of.isRecord());
  }

  private static Conversion optional(Conversion inner) {
    return new Conversion() {
      @Override
      public @Nullable Object toColumn(Object component) {
        Object value = ((Optional<?>) component).orElse(null);
        return value == null ? null : inner.toColumn(value);
      }

      @Override
      public Object fromColumn(Object canonical) {
        return Optional.of(inner.fromColumn(canonical));
      }

      @Override
      public Object fromNull() {
        return Optional.empty();
      }
    };
  }
}
