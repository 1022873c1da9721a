/**
 * The API that game logic embeds: a write-behind queue from the memory of a game node by way of
 * Redis into MySQL.
 *
 * <pre>
 * GameQueue.open(config)            one per game node
 *   queue.open("player:42")         an OwnerSession: the exclusive right to write one owner's rows
 *     session.rows(Item.class)      what the owner has, merged from Redis and MySQL
 *     session.put(...) .delete(...) changes in memory
 *     session.commit()              WAL, then Redis (queued), then MySQL (durable)
 *   queue.transact(one, two, tx -> ...)  changes of several owners: one commit, or nothing at all
 *   queue.read("player:42", ...)    the same view without taking ownership
 *   queue.topic("mail", Mail.class) messages for later, or for whichever node has time
 *     topic.publish(key, payload)   due at once, at an instant, after a window, again and again
 *     session.publish(topic, ...)   in the same commit as the session's rows
 *     topic.subscribe(handler)      to return acknowledges, to throw has it tried again
 * </pre>
 *
 * <p>Game logic changes full rows in memory and commits them; no call but {@code open}, {@code
 * read}, {@code close} and those named {@code await} or {@code drain} waits for a server. Each
 * setting, limit, error and column type is listed in {@code gameq-core/README.md}.
 *
 * <p>Everything here is thread-safe or immutable unless it says otherwise. Everything thrown on
 * purpose is a {@link io.gameq.GameQueueException}, unchecked. Parameters and results are never
 * null unless marked {@code @Nullable}. The other packages of gameq-core are internal, but for
 * {@link io.gameq.metrics.GameQueueMetrics}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq;
