package io.gameq.mysql.schema;

import java.util.List;

/**
 * What mends a table, as far as statements can; immutable.
 *
 * @param mended what stands against the table and is ended by {@code alter}, in words
 * @param cautions what to know or to see to before it runs
 * @param before statements that run before any table is altered: they drop foreign keys
 * @param alter what alters the table, in this order; empty: nothing to mend
 * @param after statements that run after all tables are altered: the foreign keys again
 * @param advised what is not needed, but better: the statements
 * @param unmended what stands against the table and no statement ends
 */
public record TableFix(
    TableSpec table,
    List<String> mended,
    List<String> cautions,
    List<String> before,
    List<String> alter,
    List<String> after,
    List<String> advised,
    List<String> unmended) {
  public TableFix {
    mended = List.copyOf(mended);
    cautions = List.copyOf(cautions);
    before = List.copyOf(before);
    alter = List.copyOf(alter);
    after = List.copyOf(after);
    advised = List.copyOf(advised);
    unmended = List.copyOf(unmended);
  }
}
