package io.gameq.writer.config;

/** What the console is for. */
public enum ConsoleMode {
  /** There is none. */
  NONE,
  /** To look, whatever role a token has. */
  READ,
  /** To look, and for whoever has a token of that role, to act. */
  ACT
}
