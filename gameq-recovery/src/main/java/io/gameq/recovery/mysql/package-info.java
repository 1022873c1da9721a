/**
 * What recovery asks of MySQL and writes to it; the only package here that knows JDBC.
 *
 * <pre>
 * RecoveryDatabase   settings, catalogue, versions, rows
 * DurableOwners      sessions in gameq_owner: read, restored, taken over
 * DirectReplay       lost rows straight into the tables, when Redis is gone for good
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.mysql;
