/**
 * What operators see and do, as one service for command line, console and HTTP: methods return
 * records and print nothing. Each change, and each look at values, is in the audit log before it is
 * made.
 *
 * <pre>
 * RecordView   describes the fields of a record once: text table, JSON object
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.admin;
