/**
 * {@code gameq-writer reslot}: another number of slots, while all is drained.
 *
 * <pre>
 * ReslotCommand
 *   Reslotting   what stands against it; the setting in MySQL, a fence, then Redis
 * </pre>
 *
 * <p>In this order, so that it may be cut short anywhere and repeated: nobody is alive and nothing
 * waits -&gt; the setting (who starts with the old number refuses) -&gt; the term moves on (who is
 * connected has to connect anew, which his number forbids) -&gt; nobody gives a sign of life for a
 * while, else the setting goes back -&gt; sessions of nodes that are gone are ended in MySQL,
 * closed ones move in Redis -&gt; nothing waits.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.reslot;
