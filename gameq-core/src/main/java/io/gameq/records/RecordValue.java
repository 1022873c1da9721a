package io.gameq.records;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
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
}
