/**
 * {@code gameq-writer trace}: where an owner or a row is on its way, and what will happen next. The
 * console shows the same.
 *
 * <pre>
 * TraceCommand
 *   Tracing        asks both servers      -&gt; OwnerTrace -&gt; WhatNext   one sentence
 *   RowTracing     the same of a row      -&gt; RowTrace   -&gt; WhatNext
 *                                              RowPlace   one version, in one place
 *   WalSearch      looks into logs of nodes
 *   OwnerPage, RowPage, TraceJson          print
 * </pre>
 *
 * <p>What Redis is asked is in {@link io.gameq.redis.script}, what MySQL in {@link
 * io.gameq.writer.mysql}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.trace;
