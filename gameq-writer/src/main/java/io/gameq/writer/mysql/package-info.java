/**
 * The writer's MySQL side: the flush transaction, its errors, and the schema commands' SQL; only
 * {@code mysql} packages touch JDBC.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.mysql;
