package io.gameq.rows;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How foreign keys tie a table to others; immutable.
 *
 * @param rank 0 without a managed parent, else above every parent's: the order of inserts
 * @param references its foreign keys
 * @param parents names of the tables that it refers to
 * @param cascades whether deleting a row changes or deletes rows of other tables
 */
public record ForeignKeys(
    int rank, List<Reference> references, Set<String> parents, boolean cascades) {
  /** Those of a table that refers to none, and that none refers to. */
  public static final ForeignKeys NONE = of(0, List.of(), false);

  public ForeignKeys {
    references = List.copyOf(references);
    parents = Set.copyOf(parents);
  }

  public static ForeignKeys of(int rank, List<Reference> references, boolean cascades) {
    return new ForeignKeys(
        rank,
        references,
        references.stream().map(Reference::parent).collect(Collectors.toUnmodifiableSet()),
        cascades);
  }
}
