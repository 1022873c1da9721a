package io.gameq.view;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.Table;
import java.util.Set;
import java.util.function.Function;

/**
 * The tables of the game's that had gone when an owner's rows were read: what the owner has there
 * is not known. Immutable.
 */
public record MissingTables(OwnerId owner, Set<String> names) {
  public MissingTables {
    names = Set.copyOf(names);
  }

  /**
   * Passes for a table that was read.
   *
   * @param refusal what to throw otherwise
   */
  public void requireKnown(Table table, Function<String, GameQueueException> refusal) {
    if (names.contains(table.name())) {
      throw refusal.apply(
          ("%s: the table had gone, or could not be managed any more, when the rows of %s were"
                  + " to be read: what the owner has there is not known; open or read it again once"
                  + " the table is back (see the command 'schema check' of gameq-writer.jar)")
              .formatted(table.name(), owner));
    }
  }
}
