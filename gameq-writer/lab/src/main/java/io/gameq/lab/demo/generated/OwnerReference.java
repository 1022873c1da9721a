package io.gameq.lab.demo.generated;

import io.gameq.GameQueueException;
import io.gameq.lab.mysql.SchemaFacts;
import io.gameq.lab.mysql.SchemaFacts.ForeignKey;
import io.gameq.lab.mysql.SchemaFacts.TableFacts;
import io.gameq.mysql.schema.TableSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The column that names an owner in most tables, and the table whose key it is; immutable.
 *
 * @param name for example {@code player_id}
 * @param root for example {@code players}, or null when no foreign key tells
 * @param rootKey the column of the root table that is referred to
 */
record OwnerReference(String name, @Nullable String root, @Nullable String rootKey) {

  /**
   * Finds it.
   *
   * @param asked a name, or null: the {@code <something>_id} that most tables have
   * @throws GameQueueException when no table has such a column
   */
  static OwnerReference of(SchemaFacts schema, @Nullable String asked) {
    String name = asked == null ? mostFrequent(schema) : asked;
    Map<String, Integer> votes = new TreeMap<>();
    for (TableFacts table : schema.tables().values()) {
      for (ForeignKey key : table.foreignKeys().values()) {
        if (key.columns().equals(List.of(name))) {
          votes.merge(key.parent() + "\n" + key.parentColumns().get(0), 1, Integer::sum);
        }
      }
    }
    String most = most(votes);
    if (most == null) {
      if (schema.tables().values().stream().noneMatch(t -> t.columns().containsKey(name))) {
        throw new GameQueueException(
            "no table has a column '%s': name the one that holds the owner with --owner-column"
                .formatted(name));
      }
      return new OwnerReference(name, null, null);
    }
    String[] root = most.split("\n", 2);
    return new OwnerReference(name, root[0], root[1]);
  }

  private static String mostFrequent(SchemaFacts schema) {
    Map<String, Integer> votes = new TreeMap<>();
    for (TableFacts table : schema.tables().values()) {
      for (String column : table.columns().keySet()) {
        if (column.toLowerCase(Locale.ROOT).endsWith("_id")) {
          votes.merge(column, 1, Integer::sum);
        }
      }
    }
    String most = most(votes);
    if (most == null) {
      throw new GameQueueException(
          "no table has a column named <something>_id: name the one that holds the owner with"
              + " --owner-column");
    }
    return most;
  }

  private static @Nullable String most(Map<String, Integer> votes) {
    String most = null;
    int count = 0;
    for (Map.Entry<String, Integer> vote : votes.entrySet()) {
      if (vote.getValue() > count) {
        most = vote.getKey();
        count = vote.getValue();
      }
    }
    return most;
  }

  /** The owner kind: {@code player} for {@code player_id}. */
  String kind() {
    String kind =
        name.toLowerCase(Locale.ROOT).replaceAll("_id$", "").replaceAll("[^a-z0-9_]", "_");
    return kind.matches("[a-z].*") ? kind : "owner";
  }

  /** Every table that has the column, and the root. */
  List<TableSpec> candidates(SchemaFacts schema) {
    List<TableSpec> specs = new ArrayList<>();
    for (TableFacts table : schema.tables().values()) {
      if (table.name().equals(root)) {
        specs.add(new TableSpec(table.name(), kind(), String.valueOf(rootKey)));
      } else if (table.columns().containsKey(name)) {
        specs.add(new TableSpec(table.name(), kind(), name));
      }
    }
    return specs;
  }
}
