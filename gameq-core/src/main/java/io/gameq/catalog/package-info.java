/**
 * What gameq knows of the managed tables, and how their rows become bytes; neither JDBC nor Redis.
 *
 * <pre>
 * Catalog
 *   Table "item"              owner kind "player", owner column "player_id", fingerprint
 *     Column "id"             ColumnType: any Java value in, one canonical Java value out
 *
 * row key      item:42,blue%20sword          table, primary key parts, each percent-encoded
 *
 * encoded row  0123456789abcdef p [fingerprint, value, value, ...]
 *              |                | MessagePack: 'p' and 'm' all columns, 'd' only the primary key
 *              |                op: 'p' put, 'd' delete, 'm' moved away
 *              version, 16 hex digits: compared as text, since a number in Lua is a double
 *
 * layout       id bigint,name varchar(20) utf8mb4   the text that the fingerprint is the CRC-32 of
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.catalog;
