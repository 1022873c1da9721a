package io.gameq.records;

import io.gameq.GameQueueException;
import io.gameq.records.PackedValues.PackedValue;
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
public final class RecordValue implements PackedValue {
  /** A record within a record within a record, and so on: deeper ones are a loop, as a rule. */
  private static final int DEEPEST = 16;

  private final RecordClass record;
  private final Component[] components;
  private final Map<String, Integer> byName = new HashMap<>();

  /** A component, and its value where a payload lacks it. */
  private record Component(String name, PackedValue packed, @Nullable Object absent) {}

  private RecordValue(Class<?> type, int depth) {
    if (depth > DEEPEST) {
      throw new GameQueueException(
          "record %s holds itself, or records more than %s deep"
              .formatted(type.getName(), DEEPEST));
    }
    record = new RecordClass(type);
    components = new Component[record.size()];
    for (int i = 0; i < components.length; i++) {
      components[i] = component(record.component(i), depth);
      byName.put(components[i].name, i);
    }
  }

  /** Throws GameQueueException when a component has a type that cannot be packed. */
  public static RecordValue of(Class<?> type) {
    return of(type, 0);
  }

  static RecordValue of(Class<?> type, int depth) {
    return new RecordValue(type, depth);
  }

  private static Component component(RecordComponent component, int depth) {
    PackedValue packed = PackedValues.of(component.getGenericType(), depth);
    if (packed == null) {
      throw new GameQueueException(
          "component %s of record %s cannot be part of a payload: %s"
              .formatted(
                  component.getName(),
                  component.getDeclaringRecord().getName(),
                  component.getGenericType().getTypeName()));
    }
    return new Component(component.getName(), packed, PackedValues.absent(component.getType()));
  }

  @Override
  public void pack(MessagePacker packer, Object of) throws IOException {
    packer.packMapHeader(components.length);
    for (int i = 0; i < components.length; i++) {
      packer.packString(components[i].name);
      Object value = record.read(i, of);
      if (value == null) {
        packer.packNil();
      } else {
        components[i].packed.pack(packer, value);
      }
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
    return record.create(values);
  }

  /** A record class of the game: reads its components, and makes its records. Immutable. */
  public static final class RecordClass {
    private final Class<?> type;
    private final RecordComponent[] components;
    private final MethodHandle[] accessors;
    private final MethodHandle constructor;

    /**
     * Looks at a record class; costly, so it is done once.
     *
     * @throws GameQueueException when gameq may not look at it
     */
    public RecordClass(Class<?> type) {
      this.type = type;
      this.components = type.getRecordComponents();
      this.accessors = new MethodHandle[components.length];
      try {
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
        for (int i = 0; i < components.length; i++) {
          accessors[i] =
              lookup
                  .unreflect(components[i].getAccessor())
                  .asType(MethodType.methodType(Object.class, Object.class));
        }
        Class<?>[] types =
            Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        constructor =
            lookup
                .findConstructor(type, MethodType.methodType(void.class, types))
                .asSpreader(Object[].class, types.length)
                .asType(MethodType.methodType(Object.class, Object[].class));
      } catch (IllegalAccessException | NoSuchMethodException e) {
        throw new GameQueueException(
            "record %s is closed to gameq: open its package in module-info"
                .formatted(type.getName()),
            e);
      }
    }

    /** How many components it has. */
    public int size() {
      return components.length;
    }

    /** A component, by its place in the declaration. */
    public RecordComponent component(int i) {
      return components[i];
    }

    /** The value of a component. Throws GameQueueException when its accessor throws. */
    public @Nullable Object read(int i, Object record) {
      try {
        return (Object) accessors[i].invokeExact(record);
      } catch (Throwable e) {
        throw new GameQueueException(
            "reading component %s of record %s failed"
                .formatted(components[i].getName(), type.getName()),
            e);
      }
    }

    /** The record of such values. Throws GameQueueException when its constructor throws. */
    public Object create(@Nullable Object[] values) {
      try {
        return (Object) constructor.invokeExact(values);
      } catch (Throwable e) {
        throw new GameQueueException("record %s refused its values".formatted(type.getName()), e);
      }
    }
  }
}
