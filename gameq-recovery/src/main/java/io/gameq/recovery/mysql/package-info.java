/**
 * What recovery asks of MySQL and writes to it; the only package here that knows JDBC.
 *
 * <pre>
 * RecoveryDatabase   the connections, settings
 * MySqlTarget        lost rows straight into the tables, when Redis is gone for good
 * ColumnRestore      values of single columns, into rows that MySQL holds in the same version
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.mysql;
