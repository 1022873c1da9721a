/**
 * What gameq knows of the managed tables, and how their rows become bytes; neither JDBC nor Redis.
 *
 * <pre>
 * Catalog
 *   Table "item"              owner kind "player", owner column "player_id", fingerprint
 *     ForeignKeys             parents before children
 *     Column "id"             types.ColumnType: any Java value in, one canonical one out
 *
 * what a game gives  -> CanonicalRow -> row: one canonical value for each column
 * row                -> RowCodec     -> encoded row; RowHeader reads and writes its front
 * encoded row        -> RowCodec     -> row, also where the table was altered since
 *
 * row key      item:42,blue%20sword          table, primary key parts, each percent-encoded
 *
 * encoded row  0123456789abcdef p [fingerprint, value, value, ...]
 *              |                | MessagePack: 'p' and 'm' all columns, 'd' only the primary key
 *              |                |   false for a column that it does not name, which keeps its value
 *              |                |   ~fingerprint of a row made anew after a delete: nothing is kept
 *              |                op: 'p' put, 'd' delete, 'm' moved away; as a capital letter it is
 *              |                followed by the row's handovers
 *              version, 16 hex digits: compared as text, since a number in Lua is a double
 *
 * handover     'r' received from or 'g' given to; version; the other owner and its session
 *
 * HandledRow   gameq_handled:mail,quest,117684614211371009,0,token   a row that gameq adds to the
 *              commit of a message's handler: it says which message the others were changed for
 *
 * layout       id bigint,name varchar(20) utf8mb4   the text that the fingerprint is the CRC-32 of
 * </pre>
 *
 * <p>ALTER TABLE while nodes run: rows of several layouts are on their way at a time. A row touches
 * only the columns that it names; one that it names and the table has dropped goes, unless it may
 * have been renamed: then the row waits. Whether a column is gone, or not there yet, only a
 * catalogue tells that was read after the row ({@link io.gameq.rows.CurrentCatalog}).
 */
@org.jspecify.annotations.NullMarked
package io.gameq.rows;
