package io.gameq.redis.script;

import io.gameq.change.SlotMessages;
import java.util.List;

/**
 * What a commit changes of messages. Immutable but for the versions inside the values.
 *
 * @param sequence of the commit in its WAL
 * @param version of the commit
 * @param messages one for each slot
 */
public record MessageCommit(long sequence, long version, List<SlotMessages> messages) {}
