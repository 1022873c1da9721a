package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterTable.Filter;
import io.gameq.owner.OwnerId;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that choose dead letters by what they are; mix them in. */
final class FilterOptions {
  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description = "Those of one owner, as the game writes it: player:42.")
  private @Nullable String owner;

  @Option(names = "--table", paramLabel = "TABLE", description = "Those of one table.")
  private @Nullable String table;

  /** Whether one of them was given. */
  boolean given() {
    return owner != null || table != null;
  }

  /**
   * The filter; lets everything through when none was given.
   *
   * @throws io.gameq.GameQueueException when the owner is no owner id
   */
  Filter filter() {
    return new Filter(owner == null ? null : OwnerId.of(owner), table);
  }
}
