/**
 * Topics as nodes use them: publishing, and subscriptions that run the game's handlers. Internal.
 *
 * <pre>
 * queue.topic       NodeTopics: created in MySQL, or compared; NodeTopic: what the game has
 * topic.publish     NodeTopic           Publish ──▶ message.MessageChange; Payloads: bytes,
 *                                       records; Schedule of a recurring one: an interval or cron
 * topic.claims      TopicClaims         what ends a claim; ClaimPoller: for who waits
 * topic.subscribe   TopicSubscription   runs the handlers
 * session.handle    OwnerConsumer       hands messages of owners to their sessions; handle.lua says
 *                                       to Redis whose these are, take.lua takes those alone
 *
 *                   a subscription, from Redis to Redis
 *                   notice, due time, poll
 *                         │ which slots to look into now
 *  gameq-topic-NAME       ▼
 *                   TopicPoller ◀── RateLimiter: free handlers, rate
 *                         │ take.lua: under a lease, to slots that are due, in one round trip;
 *                         │     as many as the topic's rate grants, while it may be taken from
 *  gameq-handler-NAME     ▼
 *                   the game's handler, with a TopicDelivery
 *                         │ returned, failed; or committed by ackWith
 *  gameq-topic-NAME       ▼
 *                   Acknowledgements ──▶ commits of the sender: WAL, then Redis
 *                                    ──▶ failures by nack.lua: tried again, or dead letters
 * </pre>
 *
 * <p>Nothing is taken ahead of a free handler, and nothing while the node has not healed, or within
 * three seconds after it has on another primary: other nodes put their acknowledgements back then.
 * That spares work; that the rows of one handler count rests on MySQL alone, see {@link
 * io.gameq.rows.HandledRow}.
 *
 * <p>An idle subscription asks Redis once a second for each slot of its topic, and for the topic's
 * pause and rate: 17 commands with 16 slots.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.subscription;
