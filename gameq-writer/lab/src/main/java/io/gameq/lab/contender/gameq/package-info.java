/**
 * gameq as a contender.
 *
 * <pre>
 * GameqSource        "gameq"
 *   GameqWriter      the writer's process
 *   GameqContender   the game's process
 *     GameqNode      players that stay logged in; bench drives it without a writer, or with several
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.gameq;
