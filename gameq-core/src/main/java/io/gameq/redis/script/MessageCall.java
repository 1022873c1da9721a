package io.gameq.redis.script;

import io.gameq.redis.SlotKeys;

/**
 * The messages of a commit that changes rows as well.
 *
 * @param kept as {@link MessagesScript.Arguments#kept}
 * @param isReplay as {@link MessagesScript.Arguments#isReplay}
 * @param slots of the namespace, by number
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record MessageCall(long kept, boolean isReplay, SlotKeys[] slots, MessageCommit commit) {}
