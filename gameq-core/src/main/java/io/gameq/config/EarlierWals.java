package io.gameq.config;

/**
 * What a node does, before it opens its first owner, with the WALs that earlier starts of a node of
 * its name left incomplete in its WAL directory.
 */
public enum EarlierWals {
  /**
   * Puts back what neither Redis nor MySQL holds of them, by versions as {@code gameq-recovery
   * replay} does, where their sessions still own: players who log in first find their rows. What a
   * later session opened without is left to {@code gameq-recovery}.
   */
  REPLAY,
  /** Names them in the log and leaves them to {@code gameq-recovery}. */
  IGNORE,
  /** Does not start; see {@code gameq-recovery plan}. */
  REFUSE
}
