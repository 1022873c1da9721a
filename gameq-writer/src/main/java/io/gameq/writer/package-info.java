/**
 * The writer service: workers take slots in turn, claim what is due, flush it to MySQL and
 * acknowledge it.
 *
 * <pre>
 * SlotSchedule -&gt; Worker: claim (redis) -&gt; Flusher: flush (mysql) -&gt; ack, or nack (redis)
 *                 |       reap now and then
 *                 Suspects who held up others -&gt; SlowLane: Flusher, small groups, then one owner
 * TermWatch    -&gt; Worker: which Redis primary counts: another one is connected to
 * </pre>
 *
 * <p>A flush that waits for a lock, takes long, or breaks off though MySQL answers is due to one of
 * its owners. Where it is not known which one, the slow lane flushes them in smaller and smaller
 * groups; an owner that fails alone stays there until he passes. So a worker loses a second or two
 * to a locked row, once.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer;
