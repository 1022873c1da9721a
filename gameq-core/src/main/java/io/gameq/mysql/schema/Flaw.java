package io.gameq.mysql.schema;

/**
 * One reason why a table cannot be managed; immutable.
 *
 * @param column the one that it is about; empty when it is about the table
 */
record Flaw(Kind kind, String column, String reason) {
  /** What is wrong, as far as a statement can mend it. */
  enum Kind {
    ENGINE,
    NO_PRIMARY_KEY,
    /** The primary key covers a prefix of the column. */
    PREFIX_IN_KEY,
    /** The column's collation takes different texts for the same. */
    COLLATION,
    /** A character set whose bytes gameq cannot count. */
    CHARACTER_SET,
    /** FLOAT or DOUBLE with digits in brackets, to which MySQL rounds. */
    DIGITS,
    /** An owner column that may be NULL. */
    NULLABLE,
    /** gq_version is there, a number, and wrong. */
    VERSION_COLUMN,
    /** gq_version is there and something else. */
    OTHER_VERSION_COLUMN,
    /** Table, column or kind of owner are not those of the database: the configuration is wrong. */
    CONFIGURATION,
    /** No statement of ours mends it. */
    OTHER
  }

  static Flaw other(String reason) {
    return new Flaw(Kind.OTHER, "", reason);
  }

  static Flaw ofTable(Kind kind, String reason) {
    return new Flaw(kind, "", reason);
  }

  /** True when {@code schema check --fix-sql} has a statement for its kind. */
  boolean isMendable() {
    return kind != Kind.OTHER && kind != Kind.CONFIGURATION;
  }
}
