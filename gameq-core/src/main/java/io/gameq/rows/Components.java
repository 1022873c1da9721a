package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.NumberedEnum;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.UuidBytes;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which record component types go with which columns, and how a column's value becomes one. */
final class Components {

  private static final Map<Class<?>, Class<?>> BOXED =
      Map.of(
          long.class, Long.class,
          int.class, Integer.class,
          short.class, Short.class,
          byte.class, Byte.class,
          boolean.class, Boolean.class,
          float.class, Float.class,
          double.class, Double.class);

  private Components() {}

  static Class<?> boxed(Class<?> type) {
    return BOXED.getOrDefault(type, type);
  }

  /**
   * The conversion of a column's canonical value to a component's type, or null when they do not go
   * together. It throws ArithmeticException or IllegalArgumentException for a single value that
   * does not fit.
   */
  static @Nullable Function<Object, Object> reader(Type type, ColumnType.Kind kind) {
    if (!(type instanceof Class<?> plain)) {
      return type.getTypeName().equals("java.util.Set<java.lang.String>")
              && kind == ColumnType.Kind.SET
          ? Components::members
          : null;
    }
    Class<?> component = boxed(plain);
    if (component.isEnum()) {
      return constant(component, kind);
    }
    if (component == UUID.class) {
      return switch (kind) {
        case BINARY -> bytes -> UuidBytes.uuid((byte[]) bytes);
        case TEXT -> text -> UUID.fromString((String) text);
        default -> null;
      };
    }
    return switch (kind) {
      case INTEGER, UNSIGNED_LONG, BIT, DECIMAL -> number(component, kind);
      case FLOAT, DOUBLE -> floating(component);
      case TEXT, JSON, ENUM, SET -> same(component, String.class);
      case BINARY -> same(component, byte[].class);
      case DATE -> same(component, java.time.LocalDate.class);
      case DATETIME -> same(component, java.time.LocalDateTime.class);
      case TIMESTAMP -> same(component, java.time.Instant.class);
      case TIME ->
          component == LocalTime.class
              ? value -> timeOfDay((Duration) value)
              : same(component, Duration.class);
    };
  }

  private static @Nullable Function<Object, Object> same(Class<?> component, Class<?> canonical) {
    return component == canonical ? value -> value : null;
  }

  private static @Nullable Function<Object, Object> number(
      Class<?> component, ColumnType.Kind kind) {
    if (component == Long.class) {
      return value -> value instanceof Long ? value : (Object) decimal(value).longValueExact();
    } else if (component == Integer.class) {
      return value -> decimal(value).intValueExact();
    } else if (component == Short.class) {
      return value -> decimal(value).shortValueExact();
    } else if (component == Byte.class) {
      return value -> decimal(value).byteValueExact();
    } else if (component == BigInteger.class) {
      return value -> decimal(value).toBigIntegerExact();
    } else if (component == BigDecimal.class) {
      return Components::decimal;
    } else if (component == Boolean.class && kind != ColumnType.Kind.DECIMAL) {
      return value -> decimal(value).signum() != 0;
    }
    return null;
  }

  private static BigDecimal decimal(Object canonical) {
    if (canonical instanceof BigDecimal decimal) {
      return decimal;
    }
    return canonical instanceof BigInteger big
        ? new BigDecimal(big)
        : BigDecimal.valueOf((Long) canonical);
  }

  private static @Nullable Function<Object, Object> floating(Class<?> component) {
    if (component == Double.class) {
      return value -> ((Number) value).doubleValue();
    }
    if (component == Float.class) {
      return value -> {
        Number number = (Number) value;
        if (Double.compare(number.floatValue(), number.doubleValue()) != 0) {
          throw new ArithmeticException("a float would round it");
        }
        return number.floatValue();
      };
    }
    return null;
  }

  private static @Nullable Function<Object, Object> constant(
      Class<?> enumClass, ColumnType.Kind kind) {
    return switch (kind) {
      case ENUM, TEXT -> constant(enumClass, of -> ((Enum<?>) of).name());
      case INTEGER ->
          NumberedEnum.class.isAssignableFrom(enumClass)
              ? constant(enumClass, of -> (long) ((NumberedEnum) of).number())
              : null;
      default -> null;
    };
  }

  /** By what the column holds of a constant. */
  private static Function<Object, Object> constant(
      Class<?> enumClass, Function<Object, Object> held) {
    Map<Object, Object> constants = new HashMap<>();
    for (Object constant : enumClass.getEnumConstants()) {
      if (constants.put(held.apply(constant), constant) != null) {
        throw new GameQueueException(
            "enum %s has two constants of one number".formatted(enumClass.getName()));
      }
    }
    return value -> {
      Object constant = constants.get(value);
      if (constant == null) {
        throw new GameQueueException(
            "enum %s lacks a member of the column".formatted(enumClass.getName()));
      }
      return constant;
    };
  }

  private static LocalTime timeOfDay(Duration time) {
    if (time.isNegative() || time.toDays() > 0) {
      throw new ArithmeticException("not a time of day");
    }
    return LocalTime.ofNanoOfDay(time.toNanos());
  }

  private static Set<String> members(Object set) {
    String text = (String) set;
    return text.isEmpty()
        ? Set.of()
        : Collections.unmodifiableSet(new LinkedHashSet<>(Arrays.asList(text.split(",", -1))));
  }
}
