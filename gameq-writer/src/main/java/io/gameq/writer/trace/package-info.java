/**
 * {@code gameq-writer trace}: where an owner or a row is on its way, and what will happen next. The
 * console shows the same.
 *
 * <pre>
 * TraceCommand
 *   Tracer         asks both servers, of an owner -&gt; OwnerTrace, or a row -&gt; RowTrace
 *     NextStep     one sentence on either
 *   WalSearch      looks into logs of nodes
 *   OwnerPage      the lines of an owner
 * </pre>
 *
 * <p>What Redis is asked is in {@link io.gameq.writer.redis}, what MySQL in {@link
 * io.gameq.writer.mysql}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.trace;
