package io.gameq.mysql.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.mysql.flush.UpsertSql.Dialect;
import org.junit.jupiter.api.Test;

class DialectTest {
  /** MySQL refuses an alias that is the name of the table, in whatever case. */
  @Test
  void theNewRowIsNeverNamedAsItsTable() {
    assertEquals(" AS gq_new", Dialect.MYSQL.alias("item"));
    assertEquals("gq_new.`id`", Dialect.MYSQL.newValue("item", "`id`"));
    for (String table : new String[] {"gq_new", "GQ_NEW", "Gq_New"}) {
      assertEquals(" AS gq_new_row", Dialect.MYSQL.alias(table), table);
      assertEquals("gq_new_row.`id`", Dialect.MYSQL.newValue(table, "`id`"), table);
    }
    assertEquals("", Dialect.MARIADB.alias("gq_new"));
    assertEquals("VALUES(`id`)", Dialect.MARIADB.newValue("gq_new", "`id`"));
  }
}
