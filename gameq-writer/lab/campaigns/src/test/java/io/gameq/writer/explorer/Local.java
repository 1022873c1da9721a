package io.gameq.writer.explorer;

/** What one actor remembers; immutable. */
interface Local {
  /** A text that is equal for local states which behave alike. */
  String text();
}
