package io.gameq.rows;

import io.gameq.ColumnConverter;
import io.gameq.ColumnName;
import io.gameq.Converter;
import io.gameq.GameQueueException;
import io.gameq.NumberedEnum;
import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.TableName;
import io.gameq.owner.OwnerId;
import io.gameq.records.PackedJson;
import io.gameq.records.PackedValues;
import io.gameq.records.PackedValues.PackedValue;
import io.gameq.records.PackedValues.RecordClass;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.Refusal;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * Turns records of one class into rows of one table and back; immutable, any thread.
 *
 * <p>A component {@code maxHealth} belongs to the column {@code max_health}, unless {@link
 * ColumnName} names another. Columns without a component take their default, and are left out when
 * reading.
 */
public final class RecordMapper<T extends Record> {
  private final Class<T> type;
  private final Table table;
  private final RecordClass record;
  private final List<Component> components;

  /** Columns that the record lacks. */
  private final int[] absent;

  /** A component, the index of its column, and how to get one from the other. */
  private record Component(String name, int index, boolean primitive, Conversion conversion) {}

  private RecordMapper(Class<T> type, Table table, RecordClass record, List<Component> components) {
    this.type = type;
    this.table = table;
    this.record = record;
    this.components = List.copyOf(components);
    this.absent =
        IntStream.range(0, table.columns().size())
            .filter(index -> components.stream().noneMatch(of -> of.index() == index))
            .toArray();
  }

  /** The table that a record class names: {@link TableName}, or its own name in snake_case. */
  public static String tableName(Class<? extends Record> type) {
    TableName override = type.getAnnotation(TableName.class);
    return override != null ? override.value() : snakeCase(type.getSimpleName());
  }

  /**
   * The mapper of a record class; costly, so it is built once, see {@link RecordMappers}.
   *
   * @throws GameQueueException when a component has no column, or one of another type
   */
  public static <T extends Record> RecordMapper<T> of(Class<T> type, Table table) {
    RecordClass record = new RecordClass(type);
    List<Component> components = new ArrayList<>();
    for (int i = 0; i < record.size(); i++) {
      components.add(component(type, table, record.component(i)));
    }
    return new RecordMapper<>(type, table, record, components);
  }

  private static Component component(Class<?> type, Table table, RecordComponent component) {
    ColumnName override = component.getAnnotation(ColumnName.class);
    String name = override != null ? override.value() : snakeCase(component.getName());
    if (!table.has(name)) {
      throw new GameQueueException(
          "component %s of record %s has no column: table %s lacks %s%s"
              .formatted(
                  component.getName(),
                  type.getName(),
                  table,
                  name,
                  SimilarNames.hint(name, table.columns().stream().map(Column::name).toList())));
    }
    Column column = table.column(name);
    Conversion conversion = Conversions.of(component, column);
    if (conversion == null) {
      throw new GameQueueException(
          "component %s of record %s cannot be a %s: column %s is %s"
              .formatted(
                  component.getName(),
                  type.getName(),
                  component.getGenericType().getTypeName(),
                  column.label(),
                  column.declaration()));
    }
    return new Component(
        component.getName(), table.indexOf(name), component.getType().isPrimitive(), conversion);
  }

  /** {@code maxHealth} to {@code max_health}, {@code HTTPServer} to {@code http_server}. */
  static String snakeCase(String camelCase) {
    return camelCase
        .replaceAll("([a-z0-9])([A-Z])", "$1_$2")
        .replaceAll("([A-Z])([A-Z][a-z])", "$1_$2")
        .toLowerCase(Locale.ROOT);
  }

  public Table table() {
    return table;
  }

  /**
   * The canonical row of a record.
   *
   * @param clock for columns with DEFAULT CURRENT_TIMESTAMP that the record lacks
   * @throws io.gameq.RowRefusedException when a column does not hold its value
   */
  public @Nullable Object[] toRow(T of, Clock clock) {
    @Nullable Object[] row = named(of);
    for (int index : absent) {
      row[index] = CanonicalRow.absent(table, index, clock);
    }
    return row;
  }

  /**
   * The columns that the record has.
   *
   * @throws io.gameq.RowRefusedException when a column does not hold its value, or the record lacks
   *     part of the key
   */
  public PartialRow toPart(T of) {
    BitSet named = new BitSet();
    components.forEach(component -> named.set(component.index()));
    return new PartialRow(table, named(of), named);
  }

  private @Nullable Object[] named(T of) {
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Object value = record.read(i, of);
      row[component.index()] =
          table.canonical(
              component.index(), value == null ? null : component.conversion().toColumn(value));
    }
    return row;
  }

  /**
   * The record of a row.
   *
   * @throws GameQueueException when the row is of another table, or a value does not fit its
   *     component, as NULL does not fit a primitive one
   */
  public T fromRow(Row row) {
    if (!row.table().equals(table.name())) {
      throw new GameQueueException(
          "row of table %s read as %s of table %s".formatted(row.table(), type.getName(), table));
    }
    @Nullable Object[] arguments = new @Nullable Object[components.size()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = convert(components.get(i), row);
    }
    return type.cast(record.create(arguments));
  }

  private @Nullable Object convert(Component component, Row row) {
    Column column = table.columns().get(component.index());
    Object value = row.get(column.name());
    if (value == null) {
      if (component.primitive()) {
        throw new GameQueueException(
            ("%s is NULL, which the primitive component %s of record %s cannot be: box it, or"
                    + " make it an Optional")
                .formatted(column.label(), component.name(), type.getName()));
      }
      return component.conversion().fromNull();
    }
    try {
      return component.conversion().fromColumn(value);
    } catch (ArithmeticException | IllegalArgumentException e) {
      throw new GameQueueException(
          "%s holds a value that component %s of record %s cannot"
              .formatted(column.label(), component.name(), type.getName()),
          e);
    }
  }

  /** Finds how a record component is converted. Stateless. */
  static final class Conversions {
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
      if (type instanceof ParameterizedType generic
          && generic.getRawType().equals(Optional.class)) {
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

  /** A record, a list or a map as JSON, in a JSON or text column. Immutable. */
  record JsonConversion(PackedValue packed, String column) implements Conversion {
    @Override
    public Object toColumn(Object component) {
      String json = null;
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        packed.pack(packer, component);
        json = PackedJson.text(packer.toByteArray());
      } catch (IOException | NullPointerException | ClassCastException e) {
        // reported below: the exception may quote values
      }
      if (json == null) {
        throw Refusal.of(
            column,
            "cannot be made JSON: lists and maps hold no null, and what they are declared to hold");
      }
      return json;
    }

    @Override
    public Object fromColumn(Object canonical) {
      byte[] bytes = PackedJson.pack((String) canonical);
      if (bytes == null) {
        throw new IllegalArgumentException("JSON that is too deep");
      }
      try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(bytes)) {
        return packed.read(unpacker);
      } catch (IOException | MessagePackException e) {
        throw new IllegalArgumentException("JSON of another form");
      }
    }
  }

  /** A component that the game's own converter converts. Thread-safe as that is. */
  static final class ByConverter implements Conversion {
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

  /**
   * Some columns of a row, its key among them: what an update gives. Immutable as long as nobody
   * writes to what it hands out.
   */
  public static final class PartialRow {
    private final Table table;
    private final @Nullable Object[] values;
    private final BitSet named;

    /**
     * Takes over the array and the set.
     *
     * @param values canonical, in the order of the table's columns
     * @throws io.gameq.RowRefusedException when the key is not whole
     */
    PartialRow(Table table, @Nullable Object[] values, BitSet named) {
      this.table = table;
      this.values = values;
      this.named = named;
      for (int i = 0; i < values.length; i++) {
        if (table.isInKey(i) && !named.get(i)) {
          throw CanonicalRow.missingInKey(table, i);
        }
      }
    }

    public Table table() {
      return table;
    }

    public RowKey key() {
      return RowKey.of(table, values);
    }

    /** Whether it says whose row it is. */
    public boolean namesOwner() {
      return named.get(table.ownerIndex());
    }

    /** The owner that it names. */
    public OwnerId owner() {
      return table.ownerOf(values);
    }

    /**
     * The full row: what it does not name as the row has it, or by default where there is none.
     *
     * @throws io.gameq.RowRefusedException when there is none, and a column has no default
     */
    public @Nullable Object[] over(@Nullable Row before, Clock clock) {
      @Nullable Object[] full = values.clone();
      for (int i = named.nextClearBit(0); i < full.length; i = named.nextClearBit(i + 1)) {
        full[i] =
            before == null
                ? CanonicalRow.absent(table, i, clock)
                : kept(table.columns().get(i), before);
      }
      return full;
    }

    /**
     * Without strict mode MySQL stored an ENUM's wrong values as '', and does not take that back.
     */
    private static @Nullable Object kept(Column column, Row before) {
      Object value = before.get(column.name());
      if ("".equals(value) && column.type().kind() == ColumnType.Kind.ENUM) {
        requireMember(column);
      }
      return value;
    }

    private static void requireMember(Column column) {
      try {
        Object unused = column.canonical("");
      } catch (RowRefusedException e) {
        throw new RowRefusedException(
            column.label()
                + " holds a value in MySQL that is none of its members: give it one in the update");
      }
    }
  }

  /** Which record component types go with which columns, and how a column's value becomes one. */
  static final class Components {

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
     * The conversion of a column's canonical value to a component's type, or null when they do not
     * go together. It throws ArithmeticException or IllegalArgumentException for a single value
     * that does not fit.
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
          case BINARY -> bytes -> ColumnTypes.uuid((byte[]) bytes);
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

  /** The mappers of one catalogue, each built when its record class is first used; any thread. */
  public static final class RecordMappers {
    private final Catalog catalog;
    private final ConcurrentHashMap<Class<?>, RecordMapper<?>> mappers = new ConcurrentHashMap<>();

    public RecordMappers(Catalog catalog) {
      this.catalog = catalog;
    }

    /**
     * The mapper of a record class.
     *
     * @throws io.gameq.GameQueueException when its table is not managed or does not fit the record
     */
    public <T extends Record> RecordMapper<T> of(Class<T> type) {
      RecordMapper<?> mapper = mappers.get(type);
      if (mapper == null) {
        mapper =
            mappers.computeIfAbsent(
                type, t -> RecordMapper.of(type, catalog.table(RecordMapper.tableName(type))));
      }
      @SuppressWarnings("unchecked") // The key is the class that the mapper was built for.
      RecordMapper<T> typed = (RecordMapper<T>) mapper;
      return typed;
    }
  }
}
