/**
 * What an owner has, merged from Redis and MySQL.
 *
 * <pre>
 * OwnerViews      reads and merges
 *   OwnerView     the newest of each row, and the dead letters
 *   MissingTables the tables whose rows could not be read
 * GameRows        between the game's records and encoded rows; the tables as the game knows them
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.view;
