/**
 * The API that game logic embeds.
 *
 * <pre>
 * GameQueue.open(config)            one per game node
 *   queue.open("player:42")         an OwnerSession: the exclusive right to write one owner's rows
 *     session.rows(Item.class)      what the owner has, merged from Redis and MySQL
 *     session.put(...) .delete(...) changes in memory
 *     session.commit()              WAL, then Redis (queued), then MySQL (durable)
 *   queue.read("player:42", ...)    the same view without taking ownership
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq;
