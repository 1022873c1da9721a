package io.gameq.config;

/** Whether the WAL is forced to the disk before commits are sent to Redis. */
public enum WalSync {
  /** It is not: the WAL survives the kill of the process, not a power loss of the host. */
  OFF,
  /**
   * Once for every group of commits that travels to Redis together: what is acknowledged survives a
   * power loss of the host, and each group waits for the disk. On Linux alone: on macOS it may lie
   * in the drive's cache, and Windows does not sync mapped memory.
   */
  GROUP
}
