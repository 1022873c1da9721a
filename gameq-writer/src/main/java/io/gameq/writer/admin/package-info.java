/**
 * What operators see and do, as one service for command line, console and HTTP: methods return
 * records and print nothing. Each change, and each look at values, is in the audit log before it is
 * made.
 *
 * <pre>
 * DeadRows        dead letters of rows: list, show, edit, retry, discard, export
 *   RowColumn       a column of a row that was kept aside, beside what MySQL has
 * Topics          topics, their messages and dead letters
 *   Messages        reads messages in pages
 *   TopicText       how topics are named and listed; what is to be done
 * StaleSessions   stale rows of sessions
 * OwnerExport     all that is kept of an owner
 * OwnerErasure    removes it for good
 * ActionResult    what became of one dead letter, of a row or a topic
 * RecordView      describes the fields of a record once: text table, JSON object
 * </pre>
 *
 * <p>The SQL is in {@link io.gameq.writer.mysql}, what is asked of Redis in {@link
 * io.gameq.redis.topic} and {@link io.gameq.writer.redis}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.admin;
