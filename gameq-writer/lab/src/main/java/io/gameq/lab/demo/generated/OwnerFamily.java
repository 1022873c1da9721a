package io.gameq.lab.demo.generated;

import io.gameq.writer.schema.OwnerGuess.SchemaDraft;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The tables of one kind of owners, as the demo makes rows for them; immutable.
 *
 * @param root makes the rows that are the owners themselves; null: there are none
 * @param children the other tables, at least one
 */
record OwnerFamily(
    SchemaDraft.OwnerColumn owner, @Nullable RowGenerator root, List<RowGenerator> children) {
  OwnerFamily {
    children = List.copyOf(children);
  }

  RowGenerator any() {
    return root == null ? children.get(0) : root;
  }

  RowGenerator anyChild(Random random) {
    return children.get(random.nextInt(children.size()));
  }
}
