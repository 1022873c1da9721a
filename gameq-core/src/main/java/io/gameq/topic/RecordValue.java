package io.gameq.topic;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** How a record is packed: a map of its components by name. Immutable. */
final class RecordValue implements PackedValue {
  /** A record within a record within a record, and so on: deeper ones are a loop, as a rule. */
  private static final int DEEPEST = 16;

  private final Class<?> type;
  private final MethodHandle constructor;
  private final Component[] components;
  private final Map<String, Integer> byName = new HashMap<>();

  /** A component, and its value where a payload lacks it. */
  private record Component(
      String name, MethodHandle accessor, PackedValue packed, @Nullable Object absent) {}

  private RecordValue(Class<?> type, int depth) {
    this.type = type;
    if (depth > DEEPEST) {
      throw new GameQueueException(
          "record %s holds itself, or records more than %d deep"
              .formatted(type.getName(), DEEPEST));
    }
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      RecordComponent[] declared = type.getRecordComponents();
      components = new Component[declared.length];
      for (int i = 0; i < declared.length; i++) {
        components[i] = component(lookup, declared[i], depth);
        byName.put(declared[i].getName(), i);
      }
      Class<?>[] types =
          Arrays.stream(declared).map(RecordComponent::getType).toArray(Class<?>[]::new);
      constructor =
          lookup
              .findConstructor(type, MethodType.methodType(void.class, types))
              .asSpreader(Object[].class, types.length)
              .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (IllegalAccessException | NoSuchMethodException e) {
      throw new GameQueueException(
          "record %s is closed to gameq: open its package in module-info".formatted(type.getName()),
          e);
    }
  }

  static RecordValue of(Class<?> type) {
    return of(type, 0);
  }

  static RecordValue of(Class<?> type, int depth) {
    return new RecordValue(type, depth);
  }

  private static Component component(
      MethodHandles.Lookup lookup, RecordComponent component, int depth)
      throws IllegalAccessException {
    PackedValue packed = PackedValues.of(component.getGenericType(), depth);
    if (packed == null) {
      throw new GameQueueException(
          "component %s of record %s cannot be part of a payload: %s"
              .formatted(
                  component.getName(),
                  component.getDeclaringRecord().getName(),
                  component.getGenericType().getTypeName()));
    }
    return new Component(
        component.getName(),
        lookup
            .unreflect(component.getAccessor())
            .asType(MethodType.methodType(Object.class, Object.class)),
        packed,
        PackedValues.absent(component.getType()));
  }

  @Override
  public void pack(MessagePacker packer, Object record) throws IOException {
    packer.packMapHeader(components.length);
    for (Component component : components) {
      packer.packString(component.name);
      Object value = read(component, record);
      if (value == null) {
        packer.packNil();
      } else {
        component.packed.pack(packer, value);
      }
    }
  }

  private @Nullable Object read(Component component, Object record) {
    try {
      return (Object) component.accessor.invokeExact(record);
    } catch (Throwable e) {
      throw new GameQueueException(
          "reading component %s of a payload %s failed".formatted(component.name, type.getName()),
          e);
    }
  }

  @Override
  public Object read(MessageUnpacker unpacker) throws IOException {
    @Nullable Object[] values = new @Nullable Object[components.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = components[i].absent;
    }
    for (int left = unpacker.unpackMapHeader(); left > 0; left--) {
      Integer at = byName.get(unpacker.unpackString());
      if (at == null) {
        unpacker.skipValue();
        continue;
      }
      Object value = components[at].packed.unpack(unpacker);
      values[at] = value == null ? components[at].absent : value;
    }
    try {
      return (Object) constructor.invokeExact(values);
    } catch (Throwable e) {
      throw new GameQueueException("record %s refused its values".formatted(type.getName()), e);
    }
  }
}
