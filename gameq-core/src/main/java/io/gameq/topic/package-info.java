/**
 * Topics as nodes use them: publishing, and subscriptions that run the game's handlers. Internal.
 *
 * <pre>
 * queue.topic       NodeTopics          Definitions: created in Redis, or compared
 *                     OpenTopic         what the game has
 * topic.publish     MessageEncoding     Publish ──▶ message.MessageChange; Payloads: bytes, records
 *                                       (RecordPayloads); Schedule of a recurring one: Interval or
 *                                       CronRhythm
 * topic.merge       Merging             reads the pending one, combines, commits if it is the same
 * topic.get, list   TopicLook           asks Redis
 * topic.claims      TopicClaims         ClaimText: what ends a claim; ClaimTaking: for who waits
 * topic.subscribe   SubscriptionStart ──▶ RunningSubscription
 *
 *                   a subscription, from Redis to Redis
 *                   notice, due time, poll
 *                         │ SlotTimes: which slots to look into now
 *  gameq-topic-NAME       ▼
 *                   Taking ◀── Pace: free handlers, rate; TakingWay: the connection, may it take
 *                         │ SlotTakes: as many as TopicShare has of the topic's rate;
 *                         │     take.lua: under a lease, to slots that are due, in one round trip
 *  gameq-handler-NAME     ▼
 *                   Workers ──▶ Handling ──▶ the game's handler, with a HeldMessage (Delivery)
 *                         │ returned, failed; or committed by ackWith
 *  gameq-topic-NAME       ▼
 *                   Outcomes ──▶ acknowledgements as commits of the sender: WAL, then Redis
 *                            ──▶ failures by nack.lua: tried again after Retry, or dead letters
 * </pre>
 *
 * <p>Nothing is taken ahead of a free handler, and nothing while the node has not healed, or within
 * three seconds after it has on another primary: other nodes put their acknowledgements back then.
 * That spares work; that the rows of one handler count rests on MySQL alone, see {@link
 * io.gameq.rows.HandledRow}.
 *
 * <p>An idle subscription asks Redis once a second for each slot of its topic, and for the topic's
 * pause and rate: 18 commands with 16 slots.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.topic;
