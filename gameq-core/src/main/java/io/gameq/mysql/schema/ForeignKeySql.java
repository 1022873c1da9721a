package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;

/** Statements that drop a foreign key and make it again. Stateless. */
final class ForeignKeySql {
  private ForeignKeySql() {}

  static String drop(ForeignKeyFacts key) {
    return "ALTER TABLE %s DROP FOREIGN KEY %s"
        .formatted(JdbcValues.quoted(key.child()), JdbcValues.quoted(key.name()));
  }

  /** The same key with these rules. */
  static String add(
      SchemaSnapshot schema, ForeignKeyFacts key, String deleteRule, String updateRule) {
    return ("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY %s REFERENCES %s %s"
            + " ON DELETE %s ON UPDATE %s")
        .formatted(
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
        : "%s.%s"
            .formatted(
                JdbcValues.quoted(name.substring(0, dot)),
                JdbcValues.quoted(name.substring(dot + 1)));
  }
}
