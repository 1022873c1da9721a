/**
 * gameq as a contender.
 *
 * <pre>
 * GameqSource        "gameq"
 *   GameqContender   a node and a writer in one process
 *     GameqNode      players that stay logged in; bench drives it without a writer, or with several
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.gameq;
