package io.gameq.mysql.schema;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What a trigger, procedure, function or event of the current database runs; immutable. Its text is
 * searched, not understood: what it says is a warning.
 *
 * @param name for example {@code trigger made of player}
 */
record StoredStatements(String name, String body) {
  private static final int FLAGS = Pattern.CASE_INSENSITIVE | Pattern.DOTALL;

  /** What may stand between the verb and the table. */
  private static final String MODIFIERS =
      "\\s+(?:(?:low_priority|high_priority|delayed|quick|ignore)\\s+)*";

  /** Of the current database, as far as the user may see it. */
  static List<StoredStatements> read(Handle handle) {
    List<StoredStatements> all = new ArrayList<>();
    read(
        handle,
        "SELECT CONCAT('trigger ', TRIGGER_NAME, ' of ', EVENT_OBJECT_TABLE), ACTION_STATEMENT"
            + " FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY"
            + " TRIGGER_NAME",
        all);
    read(
        handle,
        "SELECT CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME), ROUTINE_DEFINITION FROM"
            + " information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY"
            + " ROUTINE_NAME",
        all);
    read(
        handle,
        "SELECT CONCAT('event ', EVENT_NAME), EVENT_DEFINITION FROM information_schema.EVENTS"
            + " WHERE EVENT_SCHEMA = DATABASE() ORDER BY EVENT_NAME",
        all);
    return List.copyOf(all);
  }

  private static void read(Handle handle, String sql, List<StoredStatements> into) {
    handle
        .createQuery(sql)
        .map(
            (row, context) -> {
              @Nullable String body = row.getString(2); // null: the user may not see it
              return body != null && into.add(new StoredStatements(row.getString(1), body));
            })
        .list();
  }

  /** What it does to a table past gameq; empty when it does nothing. */
  List<String> warningsFor(String table) {
    List<String> warnings = new ArrayList<>();
    if (writes(table)) {
      warnings.add(
          "%s writes this table past gameq: who has the owner open does not see it"
              .formatted(name));
    }
    if (insertsWithoutColumns(table)) {
      warnings.add(
          ("%s inserts into this table without a list of columns, which fails once gq_version is"
                  + " there: name the columns")
              .formatted(name));
    }
    return warnings;
  }

  boolean writes(String table) {
    String named = named(table);
    return found(
        "\\b(?:(?:insert|replace)%1$s(?:into\\s+)?|update%1$s|delete%1$sfrom\\s+)%2$s"
            .formatted(MODIFIERS, named));
  }

  private boolean insertsWithoutColumns(String table) {
    return found(
        "\\b(?:insert|replace)%s(?:into\\s+)?%s\\s*\\b(?:values?|select|table|with)\\b"
            .formatted(MODIFIERS, named(table)));
  }

  /** The name, plain or quoted, of this database or another: that is not told apart. */
  private static String named(String table) {
    return "(?:(?:`[^`]+`|[\\w$]+)\\s*\\.\\s*)?(?:`%1$s`|%1$s(?![\\w$]))"
        .formatted(Pattern.quote(table));
  }

  private boolean found(String regex) {
    return Pattern.compile(regex, FLAGS).matcher(body).find();
  }
}
