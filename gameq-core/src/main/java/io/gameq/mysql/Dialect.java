package io.gameq.mysql;

import io.gameq.mysql.MySqlPool.MySql;

/** How the server at hand refers to the new row in ON DUPLICATE KEY UPDATE. */
public enum Dialect {
  /** MySQL 8.0.19 or newer: a row alias ({@code VALUES()} is deprecated there). */
  MYSQL(" AS %s", "%s.%s"),
  /** MariaDB, which has no row alias. */
  MARIADB("", "VALUES(%2$s)");

  private static final String NEW = "gq_new";

  private final String alias;
  private final String newValue;

  Dialect(String alias, String newValue) {
    this.alias = alias;
    this.newValue = newValue;
  }

  /** What stands behind the values of a statement on a table. */
  public String alias(String table) {
    return alias.formatted(newRow(table));
  }

  /** A column of the new row in it. */
  public String newValue(String table, String quotedColumn) {
    return newValue.formatted(newRow(table), quotedColumn);
  }

  private static String newRow(String table) {
    return table.equalsIgnoreCase(NEW) ? NEW + "_row" : NEW;
  }

  /** By the server's own version string: Connector/J calls MariaDB MySQL. */
  public static Dialect of(MySql mysql) {
    return mysql
            .jdbi()
            .withHandle(handle -> handle.select("SELECT VERSION()").mapTo(String.class).one())
            .contains("MariaDB")
        ? MARIADB
        : MYSQL;
  }
}
