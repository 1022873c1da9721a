/**
 * {@code gameq-writer topics}: what operators see of topics, and do with their messages. What it
 * asks Redis is in {@link io.gameq.redis.topic}.
 *
 * <pre>
 * TopicsCommand             each topic: counts, definition, pause
 *   TopicsShowCommand         messages by state, in pages
 *   TopicsTraceCommand        where one message is, and what happens next
 *   TopicsPauseCommand, TopicsResumeCommand
 *   TopicsDeadCommand         the parent of
 *     TopicsRetryCommand, TopicsDiscardCommand     DeadChoice: which
 *     TopicCommand            what all of them have in common
 *
 * AuditedTopics             what they do, for the console as well: it returns values
 *   MessageLists              reads a MessagePage: each ListedMessage, by MessageState
 *   MessageTrace              where one message is; MessageNext: what happens next
 *   TopicText                 how topics and messages are named; what is to be done
 * TopicMeters               what waits in topics, as meters
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.topics;
