/**
 * A game over any schema: what it manages, and rows that fit.
 *
 * <pre>
 * GeneratedGame      loads a file, chooses tables, makes players
 *   OwnerFamily      the tables of one kind of owners
 *   ParentRows       rows of unmanaged tables that foreign keys may refer to
 *   RowGenerator     rows of one managed table: keys, foreign keys, UNIQUE keys
 *     Values         a value that fits a column
 *   GeneratedPlayer  a game.DemoActor that puts, changes, deletes and trades such rows
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo.generated;
