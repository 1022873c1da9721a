/**
 * The writer service: workers take slots in turn, claim what is due, flush it to MySQL and
 * acknowledge it.
 *
 * <pre>
 * SlotSchedule -&gt; Worker: claim (redis) -&gt; flush (mysql) -&gt; ack, or nack (redis)
 *                         reap now and then
 * TermWatch    -&gt; Worker: which Redis primary counts: another one is connected to
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer;
