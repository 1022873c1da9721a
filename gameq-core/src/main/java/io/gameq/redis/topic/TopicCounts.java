package io.gameq.redis.topic;

/**
 * How many messages of a topic are where. Immutable.
 *
 * @param pending that wait, for their time, for a handler, or behind one of their lane
 * @param dueLanes lanes of which one is due: messages without a group, and groups
 * @param held that a handler has
 * @param dead letters
 * @param retrying of the pending ones, that failed and are to be tried again
 * @param firstDueMillis when the next one is due, or the longest overdue one was, Redis TIME in ms;
 *     -1 when none waits. Those sorted in by priority are not looked at
 */
public record TopicCounts(
    long pending, long dueLanes, long held, long dead, long retrying, long firstDueMillis) {
  /** Of no message. */
  public static final TopicCounts NONE = new TopicCounts(0, 0, 0, 0, 0, -1);

  /** Of both together. */
  public TopicCounts and(TopicCounts other) {
    return new TopicCounts(
        pending + other.pending,
        dueLanes + other.dueLanes,
        held + other.held,
        dead + other.dead,
        retrying + other.retrying,
        firstDueMillis < 0 || other.firstDueMillis < 0
            ? Math.max(firstDueMillis, other.firstDueMillis)
            : Math.min(firstDueMillis, other.firstDueMillis));
  }
}
