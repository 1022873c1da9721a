/**
 * The types of columns: what a game may put, the one Java value that it becomes, and how that is
 * written as MessagePack, in a row key, for people and over JDBC. Internal.
 *
 * <pre>
 * information_schema    COLUMN_TYPE --ColumnTypes--&gt; ColumnType: NumberTypes, TextTypes,
 *                       TimeTypes; a new type touches one of these alone
 * a put                 Object --canonical--&gt; Long, BigInteger, BigDecimal, String, byte[],
 *                       LocalDate...
 *                              \--Refusal--&gt; RowRefusedException, which names column and limit
 * an absent column      ColumnDefault: what MySQL would put
 * </pre>
 *
 * A canonical value is the one that MySQL gives back for what was put, so that a row compares equal
 * before and after the way through Redis and MySQL.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.rows.types;
