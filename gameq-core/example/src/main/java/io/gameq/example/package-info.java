/**
 * A small game on gameq, whole.
 *
 * <pre>
 * GameMain      settings, start and end of a node
 * ExampleGame   one node: who is logged in
 *   OnlinePlayer  a player in memory, and its session
 *   TradeDeal     two players change in one commit
 *   Mailbox       mail to anybody, wherever that player is
 *   GuildHall     guilds, which no node holds for long
 *     SharedOwners  how guilds are changed
 * Rows          the rows of the game
 * </pre>
 */
@NullMarked
package io.gameq.example;

import org.jspecify.annotations.NullMarked;
