/**
 * Everything that speaks JDBC: what the database's tables are, and how values get in and out.
 *
 * <pre>
 * information_schema, gameq_table
 *   SchemaSnapshot        the fixed queries, as plain records; MySQL and MariaDB made alike
 *     TableInspector      why a table can or cannot be managed -&gt; TableInspection
 *       CatalogReader     -&gt; Catalog, Inspection
 *
 * canonical value -&gt; JdbcValues.bind -&gt; ? ... column -&gt; JdbcValues.selectExpression, read
 * </pre>
 *
 * <p>Every connection runs with time_zone '+00:00' and a utf8mb4 character set.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql;
