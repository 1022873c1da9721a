package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import java.util.Locale;

/** Statements that drop a foreign key and make it again. Stateless. */
final class ForeignKeySql {
  private ForeignKeySql() {}

  static String drop(ForeignKeyFacts key) {
    return String.format(
        Locale.ROOT,
        "ALTER TABLE %s DROP FOREIGN KEY %s",
        JdbcValues.quoted(key.child()),
        JdbcValues.quoted(key.name()));
  }

  /** The same key with these rules. */
  static String add(
      SchemaSnapshot schema, ForeignKeyFacts key, String deleteRule, String updateRule) {
    return String.format(
        Locale.ROOT,
        "ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY %s REFERENCES %s %s"
            + " ON DELETE %s ON UPDATE %s",
        JdbcValues.quoted(key.child()),
        JdbcValues.quoted(key.name()),
        NewPrimaryKey.inBrackets(key.columns()),
        parent(schema, key.parent()),
        NewPrimaryKey.inBrackets(key.parentColumns()),
        deleteRule,
        updateRule);
  }

  private static String parent(SchemaSnapshot schema, String name) {
    int dot = name.indexOf('.');
    return schema.table(name) != null || dot < 0
        ? JdbcValues.quoted(name)
        : String.format(
            Locale.ROOT,
            "%s.%s",
            JdbcValues.quoted(name.substring(0, dot)),
            JdbcValues.quoted(name.substring(dot + 1)));
  }
}
