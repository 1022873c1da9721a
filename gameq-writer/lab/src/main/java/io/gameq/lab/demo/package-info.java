/**
 * {@code gameq-lab demo}: a small game on real servers, and the proof that nothing of it was lost.
 *
 * <pre>
 * DemoCommand          the command line; prints the report
 *   DemoRun            starts writers and nodes, plays, drains, verifies
 *     DemoNode         a GameQueue; its desk logs players in and out and reads them for others
 *     Driver           a thread of the game: players act and trade
 *       DemoPlayer     a session and the player's game.DemoActor
 *     Verifier         rows in MySQL against rows in memory, table by table
 *   game.DemoGame          what is played: {@code sample} (records) or {@code generated} (any
 *                          schema)
 * </pre>
 *
 * The game's memory is the model: each actor holds its rows as a game would, and at every login, at
 * every read from another node and at the end they must equal what gameq returns.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo;
