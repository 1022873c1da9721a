/**
 * What a database has: which tables are managed and what they look like, and gameq's own schema.
 * Reads information_schema; changes nothing but settings and layouts. Internal.
 *
 * <pre>
 * CatalogReader      the managed tables (of gameq_table) as a Catalog
 *   SchemaSnapshot     information_schema, in a fixed number of queries
 *   TableInspector     judges one table (TableSpec): its definition, or its flaws
 *     ColumnDefaults     a column's default, of MySQL and of MariaDB
 * LayoutTable        gameq_layout: column lists of encoded rows, by fingerprint
 * Settings           gameq_setting: what all nodes and writers must agree on
 * SchemaFiles        the numbered files of sql/, in order
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.schema;
