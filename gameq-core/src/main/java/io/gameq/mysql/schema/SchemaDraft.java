package io.gameq.mysql.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which tables of a database could be managed, and whose rows they hold: a guess, to be looked
 * through; immutable.
 *
 * @param owners the kinds of owners, those with most tables first
 * @param proposals table by table, those of one kind of owner together, its own table first
 * @param inspection of the proposed tables, in the same order
 * @param left what is not proposed
 */
public record SchemaDraft(
    List<Owner> owners, List<Proposal> proposals, Inspection inspection, List<LeftOut> left) {
  public SchemaDraft {
    owners = List.copyOf(owners);
    proposals = List.copyOf(proposals);
    left = List.copyOf(left);
  }

  /**
   * A kind of owners.
   *
   * @param kind for example {@code player}
   * @param table the one whose rows are the owners themselves, as {@code players}; null: none
   * @param key its primary key
   */
  public record Owner(String kind, @Nullable String table, @Nullable String key) {}

  /**
   * A table and its owner column.
   *
   * @param reason why that column
   * @param others other columns that might be meant, each with why
   */
  public record Proposal(TableSpec table, String reason, List<String> others) {
    public Proposal {
      others = List.copyOf(others);
    }
  }

  /**
   * A table that is not proposed.
   *
   * @param unsure what it would be proposed as, were the guess better founded; null: nothing
   */
  public record LeftOut(String table, String reason, @Nullable TableSpec unsure) {}
}
