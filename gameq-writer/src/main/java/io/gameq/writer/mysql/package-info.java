/**
 * The writer's MySQL side: the flush transaction, and the SQL of the schema and dead commands; only
 * {@code mysql} packages touch JDBC.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.mysql;
