package io.gameq.records;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/** Finds how values of a type are packed. Stateless. */
public final class PackedValues {
  private interface Packing<V> {
    void pack(MessagePacker packer, V value) throws IOException;
  }

  private interface Reading<V> {
    V read(MessageUnpacker unpacker) throws IOException;
  }

  private static final Map<Class<?>, PackedValue> SIMPLE =
      Map.ofEntries(
          simple(Boolean.class, MessagePacker::packBoolean, MessageUnpacker::unpackBoolean),
          simple(Byte.class, MessagePacker::packByte, MessageUnpacker::unpackByte),
          simple(Short.class, MessagePacker::packShort, MessageUnpacker::unpackShort),
          simple(Integer.class, MessagePacker::packInt, MessageUnpacker::unpackInt),
          simple(Long.class, MessagePacker::packLong, MessageUnpacker::unpackLong),
          simple(Float.class, MessagePacker::packFloat, from -> (float) number(from)),
          simple(Double.class, MessagePacker::packDouble, PackedValues::number),
          simple(
              Character.class, (to, value) -> to.packInt(value), from -> (char) from.unpackInt()),
          simple(String.class, MessagePacker::packString, MessageUnpacker::unpackString),
          simple(
              byte[].class,
              (to, value) -> to.packBinaryHeader(value.length).addPayload(value),
              PackedValues::bytes),
          simple(Instant.class, MessagePacker::packTimestamp, PackedValues::instant),
          simple(
              Duration.class,
              (to, value) -> to.packString(value.toString()),
              from -> Duration.parse(from.unpackString())),
          simple(
              UUID.class,
              (to, value) -> to.packString(value.toString()),
              from -> UUID.fromString(from.unpackString())));

  private static final Map<Class<?>, Class<?>> BOXED =
      Map.of(
          boolean.class, Boolean.class,
          byte.class, Byte.class,
          short.class, Short.class,
          int.class, Integer.class,
          long.class, Long.class,
          float.class, Float.class,
          double.class, Double.class,
          char.class, Character.class);

  private PackedValues() {}

  // JSON has neither bytes nor points in time, and its 5 may be a number of double precision: what
  // was published as JSON is read as PackedJson writes it.

  private static double number(MessageUnpacker from) throws IOException {
    return switch (from.getNextFormat().getValueType()) {
      case INTEGER -> (double) from.unpackLong();
      case STRING -> Double.parseDouble(from.unpackString()); // NaN, or infinite
      default -> from.unpackDouble();
    };
  }

  private static byte[] bytes(MessageUnpacker from) throws IOException {
    if (!isNext(from, ValueType.STRING)) {
      return from.readPayload(from.unpackBinaryHeader());
    }
    String text = from.unpackString();
    if (!text.startsWith("0x")) {
      throw new GameQueueException("a payload has a text where bytes are needed: 0x and hex");
    }
    return HexFormat.of().parseHex(text, 2, text.length());
  }

  private static Instant instant(MessageUnpacker from) throws IOException {
    return isNext(from, ValueType.STRING)
        ? Instant.parse(from.unpackString())
        : from.unpackTimestamp();
  }

  private static boolean isNext(MessageUnpacker from, ValueType type) throws IOException {
    return from.getNextFormat().getValueType() == type;
  }

  private static <V> Map.Entry<Class<?>, PackedValue> simple(
      Class<V> type, Packing<V> packing, Reading<V> reading) {
    return Map.entry(
        type,
        new PackedValue() {
          @Override
          public void pack(MessagePacker packer, Object value) throws IOException {
            packing.pack(packer, type.cast(value));
          }

          @Override
          public Object read(MessageUnpacker unpacker) throws IOException {
            return reading.read(unpacker);
          }
        });
  }

  /**
   * Of a type: a record, what a record may hold, lists and maps of these; null when it cannot be
   * packed. Throws GameQueueException when a record within it cannot.
   */
  public static @Nullable PackedValue of(Type type) {
    return of(type, 0);
  }

  /** Of a type, {@code depth} records deep; null when it cannot be packed. */
  static @Nullable PackedValue of(Type type, int depth) {
    if (type instanceof ParameterizedType generic) {
      Type[] of = generic.getActualTypeArguments();
      if (generic.getRawType().equals(List.class)) {
        return list(of(of[0], depth));
      }
      return generic.getRawType().equals(Map.class) && of[0].equals(String.class)
          ? map(of(of[1], depth))
          : null;
    }
    if (!(type instanceof Class<?> plain)) {
      return null;
    }
    PackedValue simple = SIMPLE.get(BOXED.getOrDefault(plain, plain));
    if (simple != null) {
      return simple;
    }
    if (plain.isEnum()) {
      return named(plain);
    }
    return plain.isRecord() ? RecordValue.of(plain, depth + 1) : null;
  }

  /** What a component of a type is where a payload lacks it. */
  static @Nullable Object absent(Class<?> type) {
    if (!type.isPrimitive()) {
      return null;
    }
    return java.lang.reflect.Array.get(java.lang.reflect.Array.newInstance(type, 1), 0);
  }

  private static @Nullable PackedValue list(@Nullable PackedValue of) {
    return of == null
        ? null
        : new PackedValue() {
          @Override
          public void pack(MessagePacker packer, Object value) throws IOException {
            List<?> list = (List<?>) value;
            packer.packArrayHeader(list.size());
            for (Object one : list) {
              of.pack(packer, one);
            }
          }

          @Override
          public Object read(MessageUnpacker unpacker) throws IOException {
            List<Object> list = new ArrayList<>();
            for (int left = unpacker.unpackArrayHeader(); left > 0; left--) {
              list.add(of.read(unpacker));
            }
            return List.copyOf(list);
          }
        };
  }

  private static @Nullable PackedValue map(@Nullable PackedValue of) {
    return of == null
        ? null
        : new PackedValue() {
          @Override
          public void pack(MessagePacker packer, Object value) throws IOException {
            Map<?, ?> map = (Map<?, ?>) value;
            packer.packMapHeader(map.size());
            for (Map.Entry<?, ?> one : map.entrySet()) {
              packer.packString((String) one.getKey());
              of.pack(packer, one.getValue());
            }
          }

          @Override
          public Object read(MessageUnpacker unpacker) throws IOException {
            Map<String, Object> map = new LinkedHashMap<>();
            for (int left = unpacker.unpackMapHeader(); left > 0; left--) {
              map.put(unpacker.unpackString(), of.read(unpacker));
            }
            return map;
          }
        };
  }

  private static PackedValue named(Class<?> type) {
    return new PackedValue() {
      @Override
      public void pack(MessagePacker packer, Object value) throws IOException {
        packer.packString(((Enum<?>) value).name());
      }

      @Override
      public Object read(MessageUnpacker unpacker) throws IOException {
        String name = unpacker.unpackString();
        for (Object constant : type.getEnumConstants()) {
          if (((Enum<?>) constant).name().equals(name)) {
            return constant;
          }
        }
        throw new GameQueueException(
            "a payload has a constant that %s does not".formatted(type.getName()));
      }
    };
  }

  /** How values of one type are packed into a payload. Immutable. */
  public interface PackedValue {
    /** Writes a value that is not null. */
    void pack(MessagePacker packer, Object value) throws IOException;

    /** Reads a value that is not nil. */
    Object read(MessageUnpacker unpacker) throws IOException;

    /** Reads a value; null for nil. */
    default @Nullable Object unpack(MessageUnpacker unpacker) throws IOException {
      return unpacker.tryUnpackNil() ? null : read(unpacker);
    }
  }

  /** How a record is packed: a map of its components by name. Immutable. */
  public static final class RecordValue implements PackedValue {
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
