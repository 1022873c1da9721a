package io.gameq.writer.mysql;

import java.util.List;

/**
 * One statement of a migration; immutable.
 *
 * @param purpose what it is for, in a few words
 * @param sql the exact text, without a semicolon
 * @param otherwise what to run when the server cannot do {@code sql} in this way, in this order
 * @param remedy what to do when it can do none of them
 */
public record MigrationStep(String purpose, String sql, List<Otherwise> otherwise, String remedy) {
  public MigrationStep {
    otherwise = List.copyOf(otherwise);
  }

  /** A step that every server can do. */
  static MigrationStep of(String purpose, String sql) {
    return new MigrationStep(purpose, sql, List.of(), "correct this");
  }

  /**
   * Another way.
   *
   * @param what it means for the table, in a few words
   */
  public record Otherwise(String sql, String what) {}
}
