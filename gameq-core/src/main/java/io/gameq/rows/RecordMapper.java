package io.gameq.rows;

import io.gameq.ColumnConverter;
import io.gameq.ColumnName;
import io.gameq.Converter;
import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.TableName;
import io.gameq.records.GameRecord;
import io.gameq.records.PackedJson;
import io.gameq.records.PackedType;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.rows.types.ColumnType.Refusal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
  private final GameRecord record;
  private final List<Component> components = new ArrayList<>();

  /** A component, the index of its column, and how to get one from the other. */
  private record Component(String name, int index, boolean primitive, Conversion conversion) {}

  /**
   * The mapper of a record class; costly, so it is built once, see {@link RecordMappers}.
   *
   * @throws GameQueueException when a component has no column, or one of another type
   */
  public RecordMapper(Class<T> type, Table table) {
    this.type = type;
    this.table = table;
    this.record = new GameRecord(type);
    record.components().forEach(of -> components.add(component(of)));
  }

  /** The table that a record class names: {@link TableName}, or its own name in snake_case. */
  public static String tableName(Class<? extends Record> type) {
    TableName override = type.getAnnotation(TableName.class);
    return override != null ? override.value() : snakeCase(type.getSimpleName());
  }

  private Component component(RecordComponent component) {
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
    Conversion conversion = Conversion.of(component, column);
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
   * The columns that the record has.
   *
   * @throws io.gameq.RowRefusedException when a column does not hold its value, or the record lacks
   *     part of the key
   */
  public PartialRow toPart(T of) {
    BitSet named = new BitSet();
    @Nullable Object[] row = new @Nullable Object[table.columns().size()];
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Object value = record.read(i, of);
      Object given = value == null ? null : component.conversion().toColumn().apply(value);
      row[component.index()] = table.canonical(component.index(), given);
      named.set(component.index());
    }
    return new PartialRow(table, row, named);
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
    return type.cast(record.create(components.stream().map(of -> convert(of, row)).toArray()));
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
      return component.conversion().ofNull();
    }
    try {
      return component.conversion().fromColumn().apply(value);
    } catch (ArithmeticException | IllegalArgumentException e) {
      throw new GameQueueException(
          "%s holds a value that component %s of record %s cannot"
              .formatted(column.label(), component.name(), type.getName()),
          e);
    }
  }

  /**
   * How a record component becomes what its column takes, and back. Thread-safe, as far as a game's
   * converter is.
   *
   * @param toColumn what the column takes for a component that is not null; null for NULL
   * @param fromColumn the component of a canonical value that is not NULL; throws
   *     ArithmeticException or IllegalArgumentException when the component cannot hold it
   * @param ofNull the component of NULL
   */
  private record Conversion(
      Function<Object, @Nullable Object> toColumn,
      Function<Object, Object> fromColumn,
      @Nullable Object ofNull) {
    /**
     * The conversion of a component, or null when it does not go with its column.
     *
     * @throws GameQueueException when its converter cannot be made, or a record in a JSON column
     *     holds what JSON does not
     */
    static @Nullable Conversion of(RecordComponent component, Column column) {
      ColumnConverter named = component.getAnnotation(ColumnConverter.class);
      return named != null
          ? byConverter(named.value(), component, column)
          : of(component.getGenericType(), column);
    }

    private static @Nullable Conversion of(Type type, Column column) {
      boolean isGeneric = type instanceof ParameterizedType;
      if (type instanceof ParameterizedType generic
          && generic.getRawType().equals(Optional.class)) {
        Conversion inner = of(generic.getActualTypeArguments()[0], column);
        return inner == null
            ? null
            : new Conversion(
                of -> ((Optional<?>) of).map(inner.toColumn).orElse(null),
                value -> Optional.of(inner.fromColumn.apply(value)),
                Optional.empty());
      }
      if (column.type().holdsJson()
          && (isGeneric || (type instanceof Class<?> plain && plain.isRecord()))) {
        PackedType packed = PackedType.of(type);
        return packed == null ? null : json(packed, column.label());
      }
      Function<Object, Object> reader =
          column.type().reader(type instanceof Class<?> plain ? GameRecord.boxed(plain) : type);
      return reader == null ? null : new Conversion(component -> component, reader, null);
    }

    /** A record, a list or a map as JSON. No exception quotes values. */
    private static Conversion json(PackedType packed, String column) {
      return new Conversion(
          component -> {
            try {
              return Objects.requireNonNull(PackedJson.text(packed.encode(component)));
            } catch (IllegalArgumentException | NullPointerException e) {
              throw Refusal.of(
                  column,
                  "cannot be made JSON: lists and maps hold no null, and what they are declared to"
                      + " hold");
            }
          },
          value -> {
            byte[] bytes = PackedJson.pack((String) value);
            if (bytes == null) {
              throw new IllegalArgumentException("JSON that is too deep");
            }
            try {
              return packed.decode(bytes);
            } catch (IllegalArgumentException e) {
              throw new IllegalArgumentException("JSON of another form");
            }
          },
          null);
    }

    private static Conversion byConverter(
        Class<? extends Converter<?, ?>> type, RecordComponent component, Column column) {
      String what =
          "converter %s of component %s and %s"
              .formatted(type.getName(), component.getName(), column.label());
      try {
        @SuppressWarnings("unchecked") // What it takes and returns shows when it does.
        Converter<Object, Object> converter =
            (Converter<Object, Object>)
                MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                    .findConstructor(type, MethodType.methodType(void.class))
                    .invoke();
        return new Conversion(
            of -> converted(what, converter::toColumn, of),
            value -> converted(what, converter::fromColumn, value),
            null);
      } catch (Throwable e) {
        throw new GameQueueException(
            what
                + " cannot be made: it needs a constructor without parameters, and its package open"
                + " to gameq",
            e);
      }
    }

    private static Object converted(String what, Function<Object, Object> way, Object from) {
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
     * @throws GameQueueException when its table is not managed or does not fit the record
     */
    @SuppressWarnings("unchecked") // The key is the class that the mapper was built for.
    public <T extends Record> RecordMapper<T> of(Class<T> type) {
      RecordMapper<?> mapper = mappers.get(type);
      if (mapper == null) {
        mapper =
            mappers.computeIfAbsent(
                type, t -> new RecordMapper<>(type, catalog.table(tableName(type))));
      }
      return (RecordMapper<T>) mapper;
    }
  }
}
