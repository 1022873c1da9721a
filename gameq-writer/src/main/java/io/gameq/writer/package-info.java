/**
 * The writer service: workers take slots in turn, claim what is due, flush it to MySQL and
 * acknowledge it.
 *
 * <pre>
 * config, setup, status, schema, dead, stale, audit, terminal   what an operator calls
 * pause      the same: what is to wait, or to be written now
 * socket     commands that a running writer answers
 * doctor, reslot                                  the same: what is mended or changed in Redis
 * export, erase                                   the same: all that is kept of an owner
 * trace      where one owner or row is, and what will happen next
 * topics     topics: what waits in them, where one message is, pauses, dead letters
 * letters    what they do with dead letters; the console as well
 * logs       how a running writer logs
 * service    starts and stops all of it
 *   flush    flush.Worker, flush.SlowLane: agents; each takes the steps of a turn
 *     turn   reap | claim | decode | flush | ack | nack | ask MySQL who owns | tell Redis
 *   upkeep   what is done once an hour
 *   console  the web pages for operators, served by http
 * </pre>
 *
 * <p>A flush that waits for a lock, takes long, or breaks off though MySQL answers is due to one of
 * its owners. Where it is not known which one, the slow lane flushes them in smaller and smaller
 * groups; an owner that fails alone stays there until he passes. So a worker loses a second or two
 * to a locked row, once.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer;
