package io.gameq.mysql.schema;

import io.gameq.mysql.schema.CatalogReader.TableSpec;
import java.util.List;
import java.util.stream.Stream;

/**
 * What mends a table, as far as statements can; immutable.
 *
 * @param mended what stands against the table and is ended by the statements, in words
 * @param unmended what stands against the table and no statement ends
 * @param notes what to know before the statements run: what they cost and what changes
 * @param inTheWay queries of rows with which the statements fail; empty: there are none, else the
 *     statements are a proposal for when somebody has decided about these rows
 */
public record TableFix(
    TableSpec table,
    List<String> mended,
    List<String> unmended,
    List<String> notes,
    List<String> inTheWay,
    Statements statements) {
  public TableFix {
    mended = List.copyOf(mended);
    unmended = List.copyOf(unmended);
    notes = List.copyOf(notes);
    inTheWay = List.copyOf(inTheWay);
  }

  /**
   * The statements, each list in its order.
   *
   * @param before run before any table is altered: they drop foreign keys
   * @param alter alter the table, and those that foreign keys tie to it
   * @param after run after all tables are altered: the foreign keys again
   * @param advised are not needed, but better
   */
  public record Statements(
      List<String> before, List<String> alter, List<String> after, List<String> advised) {
    public Statements {
      before = List.copyOf(before);
      alter = List.copyOf(alter);
      after = List.copyOf(after);
      advised = List.copyOf(advised);
    }

    /** Those that are needed, in order. */
    public List<String> needed() {
      return Stream.of(before, alter, after).flatMap(List::stream).toList();
    }
  }

  /** Whether something stands against the table, mendable or not. */
  public boolean isNeeded() {
    return !mended.isEmpty() || !unmended.isEmpty();
  }

  /** Whether there are statements that can run as they are. */
  public boolean isReady() {
    return !statements.needed().isEmpty() && inTheWay.isEmpty();
  }
}
