/**
 * The laboratory: what measures or demonstrates gameq, and is not deployed.
 *
 * <pre>
 * demo      a small game, or one made up for a schema, verified row by row
 * bench     commits, drain, logins and recovery, beside the limits of Redis and MySQL
 * compare   gameq beside other ways to do it, and what a kill costs each of them
 *   contender   gameq, limits of the servers, upserts that wait, the queue that gameq began as;
 *               peers: other libraries (a jar that the profile "peers" builds)
 *   load        game threads that act through a contender
 *   workload    what they do, and what MySQL must hold then
 *   redis, mysql   a harness' own look at both servers
 *   report      figures, table, JSON
 * scratch   the servers that these run on: embedded ones, or yours
 * servers   embedded Redis and MariaDB
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab;
