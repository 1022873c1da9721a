package io.gameq.rows;

import org.jspecify.annotations.Nullable;

/** Where the column lists of rows encoded before an ALTER TABLE are found; called by any thread. */
@FunctionalInterface
public interface LayoutSource {
  /** The layout text with this fingerprint, or null when none is known. */
  @Nullable String layout(String table, long fingerprint);
}
