package io.gameq.mysql.schema;

import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Columns that are to be altered, and the foreign keys that stand in the way: their columns change
 * together, so they are dropped before and made again afterwards. Used by one thread.
 */
final class ColumnChanges {
  private final SchemaSnapshot schema;
  private final Map<Place, Change> changes = new LinkedHashMap<>();
  private final Set<ForeignKeyFacts> keys = new LinkedHashSet<>();

  /** A column of a table. */
  record Place(String table, String column) {}

  /**
   * What becomes of a column.
   *
   * @param charset null: stays
   * @param collation null: that of the character set
   * @param exact without digits to which MySQL rounds
   */
  record Change(
      @Nullable String charset, @Nullable String collation, boolean notNull, boolean exact) {
    static final Change NONE = new Change(null, null, false, false);

    Change in(String newCharset, @Nullable String newCollation) {
      return new Change(newCharset, newCollation, notNull, exact);
    }

    Change withoutNull() {
      return new Change(charset, collation, true, exact);
    }

    Change withoutDigits() {
      return new Change(charset, collation, notNull, true);
    }
  }

  ColumnChanges(SchemaSnapshot schema) {
    this.schema = schema;
  }

  /** Gives a column, and all that foreign keys tie to it, this character set and collation. */
  void setCharset(String table, String column, String charset, @Nullable String collation) {
    List<Place> open = new ArrayList<>(List.of(new Place(table, column)));
    Set<Place> seen = new LinkedHashSet<>(open);
    while (!open.isEmpty()) {
      Place place = open.remove(open.size() - 1);
      changes.put(place, soFar(place).in(charset, collation));
      for (ForeignKeyFacts key : schema.foreignKeys()) {
        for (int i = 0; i < key.columns().size(); i++) {
          Place child = new Place(key.child(), key.columns().get(i));
          Place parent = new Place(key.parent(), key.parentColumns().get(i));
          if (child.equals(place) || parent.equals(place)) {
            keys.add(key);
            for (Place other : List.of(child, parent)) {
              if (schema.table(other.table()) != null && seen.add(other)) {
                open.add(other);
              }
            }
          }
        }
      }
    }
  }

  /** Lets a text column be compared as it is; others are left. */
  void compareAsItIs(String table, String column) {
    TableFacts facts = schema.table(table);
    ColumnFacts of = facts == null ? null : facts.column(column);
    String charset = of == null ? null : of.charset();
    String collation = of == null ? null : of.collation();
    if (of != null
        && charset != null
        && collation != null
        && !collation.endsWith("_bin")
        && of.columnType().matches("(?i)(var)?char\\b.*")) { // values of ENUM and SET stay apart
      setCharset(table, column, charset, charset + "_bin");
    }
  }

  /**
   * Lets a column hold no NULL. MySQL does not do that to a column of a foreign key; one that would
   * set NULL restricts from then on.
   */
  void setNotNull(String table, String column) {
    Place place = new Place(table, column);
    changes.put(place, soFar(place).withoutNull());
    schema.foreignKeys().stream()
        .filter(
            key ->
                (key.child().equals(table) && key.columns().contains(column))
                    || (key.parent().equals(table) && key.parentColumns().contains(column)))
        .forEach(keys::add);
  }

  /** Takes the digits away to which MySQL rounds. */
  void dropDigits(String table, String column) {
    Place place = new Place(table, column);
    changes.put(place, soFar(place).withoutDigits());
  }

  private Change soFar(Place place) {
    return changes.getOrDefault(place, Change.NONE);
  }

  /** The columns of a table that are altered. */
  Map<String, Change> of(String table) {
    Map<String, Change> its = new LinkedHashMap<>();
    changes.forEach(
        (place, change) -> {
          if (place.table().equals(table)) {
            its.put(place.column(), change);
          }
        });
    return its;
  }

  /** All tables with a column that is altered. */
  Set<String> tables() {
    Set<String> names = new LinkedHashSet<>();
    changes.keySet().forEach(place -> names.add(place.table()));
    return names;
  }

  /** The foreign keys that are in the way. */
  Set<ForeignKeyFacts> foreignKeys() {
    return keys;
  }

  /** The rule that a foreign key has afterwards. */
  String ruleAfter(ForeignKeyFacts key, String rule) {
    boolean holdsNoNull =
        key.columns().stream()
            .map(column -> changes.get(new Place(key.child(), column)))
            .anyMatch(change -> change != null && change.notNull());
    return rule.equals("SET NULL") && holdsNoNull ? "RESTRICT" : rule;
  }
}
