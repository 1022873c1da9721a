/**
 * {@code gameq-writer audit}: what operators did, by command line or console. What is listed is in
 * {@link io.gameq.mysql.tables.AuditTable}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.audit;
