package io.gameq.mysql.schema;

import java.util.List;

/**
 * Whether a table can be managed.
 *
 * @param reasons why it cannot; empty when it can
 * @param warnings what works, but not as one may expect
 */
public record TableInspection(
    TableSpec spec, List<String> reasons, List<String> warnings, VersionColumn versionColumn) {

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
  }

  /** True when nothing stands against it; a missing version column does not. */
  public boolean manageable() {
    return reasons.isEmpty();
  }
}
