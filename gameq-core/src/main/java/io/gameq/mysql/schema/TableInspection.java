package io.gameq.mysql.schema;

import java.util.List;

/**
 * Whether a table can be managed.
 *
 * @param spec as the database names table and column, where it has them
 * @param reasons why it cannot; empty when it can
 * @param warnings what works, but not as one may expect
 * @param otherWriters triggers, procedures and events that write the table, which gameq cannot see
 */
public record TableInspection(
    TableSpec spec,
    List<String> reasons,
    List<String> warnings,
    VersionColumn versionColumn,
    List<String> otherWriters) {

  /** The state of gq_version. */
  public enum VersionColumn {
    PRESENT,
    /** To be added by 'schema migrate'. */
    MISSING,
    /** There, but not BIGINT UNSIGNED NOT NULL DEFAULT 0; also one of the reasons. */
    WRONG
  }

  public TableInspection {
    reasons = List.copyOf(reasons);
    warnings = List.copyOf(warnings);
    otherWriters = List.copyOf(otherWriters);
  }

  /** True when nothing stands against it; a missing version column does not. */
  public boolean manageable() {
    return reasons.isEmpty();
  }
}
