package io.gameq.records;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.DateTimeException;
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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * How values of one type are packed as MessagePack: a record as a map of its components by name,
 * what a record may hold, lists and maps of these. Immutable.
 */
public final class PackedType {
  /** A record within a record within a record, and so on: deeper ones are a loop, as a rule. */
  private static final int DEEPEST = 16;

  private static final Map<Class<?>, PackedType> SIMPLE =
      Map.ofEntries(
          simple(Boolean.class, MessagePacker::packBoolean, MessageUnpacker::unpackBoolean),
          simple(Byte.class, MessagePacker::packByte, MessageUnpacker::unpackByte),
          simple(Short.class, MessagePacker::packShort, MessageUnpacker::unpackShort),
          simple(Integer.class, MessagePacker::packInt, MessageUnpacker::unpackInt),
          simple(Long.class, MessagePacker::packLong, MessageUnpacker::unpackLong),
          simple(Float.class, MessagePacker::packFloat, from -> (float) number(from)),
          simple(Double.class, MessagePacker::packDouble, PackedType::number),
          simple(Character.class, (to, of) -> to.packInt(of), from -> (char) from.unpackInt()),
          simple(String.class, MessagePacker::packString, MessageUnpacker::unpackString),
          simple(
              byte[].class,
              (to, of) -> to.packBinaryHeader(of.length).addPayload(of),
              PackedType::bytes),
          simple(Instant.class, MessagePacker::packTimestamp, PackedType::instant),
          simple(
              Duration.class,
              (to, of) -> to.packString(of.toString()),
              from -> Duration.parse(from.unpackString())),
          simple(
              UUID.class,
              (to, of) -> to.packString(of.toString()),
              from -> UUID.fromString(from.unpackString())));

  private final Packer<Object> packing;
  private final Unpacker reading;

  private interface Packer<V> {
    void pack(MessagePacker to, V value) throws IOException;
  }

  private interface Unpacker {
    Object read(MessageUnpacker from) throws IOException;
  }

  private PackedType(Packer<Object> packing, Unpacker reading) {
    this.packing = packing;
    this.reading = reading;
  }

  /**
   * The packing of a record, of what a record may hold, of lists and maps of these; null when it
   * cannot be packed.
   *
   * @throws GameQueueException when a record within it cannot
   */
  public static @Nullable PackedType of(Type type) {
    return of(type, 0);
  }

  /**
   * The packing of a record.
   *
   * @throws GameQueueException when a component has a type that cannot be packed
   */
  public static PackedType ofRecord(Class<?> type) {
    return record(type, 0);
  }

  /**
   * A value as bytes.
   *
   * @throws IllegalArgumentException when a list or map in it holds null, or what it is not
   *     declared to hold; it may quote values
   */
  public byte[] encode(Object value) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packing.pack(packer, value);
      return packer.toByteArray();
    } catch (IOException | NullPointerException | ClassCastException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /**
   * The value of such bytes.
   *
   * @throws IllegalArgumentException when they are nil, or those of something else; it may quote
   *     values
   * @throws GameQueueException when a constant is unknown, or a record refuses its values
   */
  public Object decode(byte[] bytes) {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(bytes)) {
      return reading.read(unpacker);
    } catch (IOException | MessagePackException | ArithmeticException | DateTimeException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Of a type, {@code depth} records deep. */
  private static @Nullable PackedType of(Type type, int depth) {
    if (type instanceof ParameterizedType generic) {
      Type[] of = generic.getActualTypeArguments();
      boolean isMap = generic.getRawType().equals(Map.class) && of[0].equals(String.class);
      if (!isMap && !generic.getRawType().equals(List.class)) {
        return null;
      }
      PackedType held = of(of[of.length - 1], depth);
      return held == null ? null : isMap ? map(held) : list(held);
    }
    if (!(type instanceof Class<?> plain)) {
      return null;
    }
    PackedType simple = SIMPLE.get(GameRecord.boxed(plain));
    return simple != null
        ? simple
        : plain.isEnum() ? constant(plain) : plain.isRecord() ? record(plain, depth + 1) : null;
  }

  @SuppressWarnings("unchecked") // The lambda casts what it is given.
  private static <V> Map.Entry<Class<?>, PackedType> simple(
      Class<V> type, Packer<V> packing, Unpacker reading) {
    return Map.entry(type, new PackedType((Packer<Object>) packing, reading));
  }

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
    if (!isText(from)) {
      return from.readPayload(from.unpackBinaryHeader());
    }
    String text = from.unpackString();
    if (!text.startsWith("0x")) {
      throw new GameQueueException("a payload has a text where bytes are needed: 0x and hex");
    }
    return HexFormat.of().parseHex(text, 2, text.length());
  }

  private static Instant instant(MessageUnpacker from) throws IOException {
    return isText(from) ? Instant.parse(from.unpackString()) : from.unpackTimestamp();
  }

  private static boolean isText(MessageUnpacker from) throws IOException {
    return from.getNextFormat().getValueType() == ValueType.STRING;
  }

  private static PackedType list(PackedType of) {
    return new PackedType(
        (to, value) -> {
          List<?> list = (List<?>) value;
          to.packArrayHeader(list.size());
          for (Object one : list) {
            of.packing.pack(to, one);
          }
        },
        from -> {
          List<Object> list = new ArrayList<>();
          for (int left = from.unpackArrayHeader(); left > 0; left--) {
            list.add(of.reading.read(from));
          }
          return List.copyOf(list);
        });
  }

  private static PackedType map(PackedType of) {
    return new PackedType(
        (to, value) -> {
          Map<?, ?> map = (Map<?, ?>) value;
          to.packMapHeader(map.size());
          for (Map.Entry<?, ?> one : map.entrySet()) {
            to.packString((String) one.getKey());
            of.packing.pack(to, one.getValue());
          }
        },
        from -> {
          Map<String, Object> map = new LinkedHashMap<>();
          for (int left = from.unpackMapHeader(); left > 0; left--) {
            map.put(from.unpackString(), of.reading.read(from));
          }
          return map;
        });
  }

  private static PackedType constant(Class<?> type) {
    Map<String, Object> byName =
        Arrays.stream(type.getEnumConstants())
            .collect(Collectors.toMap(of -> ((Enum<?>) of).name(), Function.identity()));
    return new PackedType(
        (to, value) -> to.packString(((Enum<?>) value).name()),
        from -> {
          Object constant = byName.get(from.unpackString());
          if (constant == null) {
            throw new GameQueueException(
                "a payload has a constant that %s does not".formatted(type.getName()));
          }
          return constant;
        });
  }

  private static PackedType record(Class<?> type, int depth) {
    if (depth > DEEPEST) {
      throw new GameQueueException(
          "record %s holds itself, or records more than %s deep"
              .formatted(type.getName(), DEEPEST));
    }
    GameRecord record = new GameRecord(type);
    int size = record.components().size();
    String[] names = new String[size];
    PackedType[] types = new PackedType[size];
    @Nullable Object[] absent = new @Nullable Object[size]; // where a payload lacks a component
    Map<String, Integer> byName = new HashMap<>();
    for (int i = 0; i < size; i++) {
      RecordComponent component = record.components().get(i);
      names[i] = component.getName();
      byName.put(names[i], i);
      types[i] = component(component, depth);
      Class<?> of = component.getType();
      absent[i] = of.isPrimitive() ? Array.get(Array.newInstance(of, 1), 0) : null;
    }
    return new PackedType(
        (to, of) -> {
          to.packMapHeader(size);
          for (int i = 0; i < size; i++) {
            to.packString(names[i]);
            Object value = record.read(i, of);
            if (value == null) {
              to.packNil();
            } else {
              types[i].packing.pack(to, value);
            }
          }
        },
        from -> {
          @Nullable Object[] values = absent.clone();
          for (int left = from.unpackMapHeader(); left > 0; left--) {
            Integer at = byName.get(from.unpackString());
            if (at == null) {
              from.skipValue();
              continue;
            }
            values[at] = from.tryUnpackNil() ? absent[at] : types[at].reading.read(from);
          }
          return record.create(values);
        });
  }

  private static PackedType component(RecordComponent component, int depth) {
    PackedType packed = of(component.getGenericType(), depth);
    if (packed == null) {
      throw new GameQueueException(
          "component %s of record %s cannot be part of a payload: %s"
              .formatted(
                  component.getName(),
                  component.getDeclaringRecord().getName(),
                  component.getGenericType().getTypeName()));
    }
    return packed;
  }
}
