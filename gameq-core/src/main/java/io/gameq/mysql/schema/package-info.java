/**
 * What a database has: which tables are managed and what they look like, and gameq's own schema.
 * Reads information_schema; changes nothing but settings and layouts. Internal.
 *
 * <pre>
 * CatalogReader      the managed tables (gameq_table: TableSpec) as a Catalog, or an Inspection
 *   SchemaSnapshot     information_schema, in a fixed number of queries
 *     ColumnDefaults     a column's default, of MySQL and of MariaDB
 *   TableInspector     judges one table: TableInspection, managed or why not (Flaw)
 *     StoredStatements   triggers and the like that write it as well
 *   SchemaRepair       the statements that end what stands against tables: TableFix
 *     ColumnChanges      columns to be altered, and the foreign keys in the way
 *     ColumnDefinition   one of them, as SHOW CREATE TABLE has it
 *       ColumnChangeNotes  what that changes for a game
 *     NewPrimaryKey      for a table without one
 *     VersionColumnFix   where gq_version is something else
 *     RowsInTheWay       with which a statement fails
 *     TableTexts         SHOW CREATE TABLE, and what altering costs
 *   OwnerGuess         whose rows tables hold: SchemaDraft
 *     OwnerReferences    who plays; columns that may name an owner, by keys and by names
 * LayoutTable        gameq_layout: column lists of encoded rows, by fingerprint
 * Settings           gameq_setting: what all nodes and writers must agree on
 * SchemaFiles        the numbered files of sql/, in order
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.schema;
