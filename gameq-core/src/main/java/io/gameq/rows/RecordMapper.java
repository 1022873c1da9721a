package io.gameq.rows;

import io.gameq.ColumnName;
import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.TableName;
import io.gameq.records.RecordClass;
import java.lang.reflect.RecordComponent;
import java.time.Clock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
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
}
