package io.gameq.sign;

import io.gameq.GameQueueException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A record as the fields of a hash, and back: numbers, booleans, text, and records of these, whose
 * fields stand beside the others. What is missing or makes no sense is 0, false or empty, since the
 * process may be of another version. Stateless.
 */
public final class SignFields {
  private SignFields() {}

  /** The fields by name, as text. */
  public static Map<String, String> of(Record sign) {
    Map<String, String> fields = new LinkedHashMap<>();
    values(sign).forEach((name, value) -> fields.put(name, value.toString()));
    return fields;
  }

  /** The fields by name. */
  public static Map<String, Object> values(Record sign) {
    Map<String, Object> values = new LinkedHashMap<>();
    put(sign, values);
    return values;
  }

  private static void put(Record of, Map<String, Object> values) {
    for (RecordComponent component : of.getClass().getRecordComponents()) {
      Object value = value(of, component);
      if (value instanceof Record nested) {
        put(nested, values);
      } else {
        values.put(component.getName(), value);
      }
    }
  }

  private static Object value(Record of, RecordComponent component) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new GameQueueException("cannot read " + component, e);
    }
  }

  /** A record of that type from the fields. */
  public static <T extends Record> T read(Class<T> type, Map<String, String> fields) {
    RecordComponent[] components = type.getRecordComponents();
    try {
      return type.getDeclaredConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new))
          .newInstance(
              Arrays.stream(components).map(component -> parse(component, fields)).toArray());
    } catch (ReflectiveOperationException e) {
      throw new GameQueueException("cannot make a " + type, e);
    }
  }

  private static Object parse(RecordComponent component, Map<String, String> fields) {
    Class<?> type = component.getType();
    String text = fields.get(component.getName());
    if (type == long.class) {
      return (long) number(text);
    }
    if (type == double.class) {
      return number(text);
    }
    if (type == boolean.class) {
      return Boolean.parseBoolean(text);
    }
    if (type == String.class) {
      return text == null ? "" : text;
    }
    return read(type.asSubclass(Record.class), fields);
  }

  private static double number(@Nullable String text) {
    try {
      return text == null ? 0 : Double.parseDouble(text); // exact up to 2^53
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
