package io.gameq;

/**
 * Turns a record component into what its column takes, and back; named by {@link ColumnConverter}.
 * Called by many threads at a time. NULL is null on both sides and never comes here.
 *
 * <pre>
 * record Spawn(long id, {@literal @}ColumnConverter(AsText.class) Position position) {}
 *
 * class AsText implements Converter&lt;Position, String&gt; {
 *   public String toColumn(Position of) { return of.x() + ";" + of.y(); }
 *   public Position fromColumn(String text) { return Position.parse(text); }
 * }
 * </pre>
 *
 * @param <T> the component's type
 * @param <C> what {@link Row#get} returns for the column: the table of column types in
 *     gameq-core/README.md has it
 */
public interface Converter<T, C> {
  /**
   * What the column is to hold.
   *
   * @return anything that the column takes, not null
   */
  C toColumn(T value);

  /** The component of what the column holds, not null. */
  T fromColumn(C value);
}
