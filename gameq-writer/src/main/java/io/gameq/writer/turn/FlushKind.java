package io.gameq.writer.turn;

/** With whom claims are flushed, and what for. */
public enum FlushKind {
  /** Many owners: one that holds up the others is looked for apart. */
  TOGETHER,
  /** One owner who may hold up others: rows that take MySQL long are searched for. */
  APART,
  /** One owner whose rows nobody can flush: all become dead letters, none is decoded. */
  SETTING_ASIDE
}
