package io.gameq.mysql;

/** How the server at hand refers to the new row in ON DUPLICATE KEY UPDATE. */
public enum Dialect {
  /** MySQL 8.0.19 or newer: a row alias ({@code VALUES()} is deprecated there). */
  MYSQL(" AS gq_new", "gq_new.%s"),
  /** MariaDB, which has no row alias. */
  MARIADB("", "VALUES(%s)");

  public final String alias;
  private final String newValue;

  Dialect(String alias, String newValue) {
    this.alias = alias;
    this.newValue = newValue;
  }

  public String newValue(String quotedColumn) {
    return newValue.formatted(quotedColumn);
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
