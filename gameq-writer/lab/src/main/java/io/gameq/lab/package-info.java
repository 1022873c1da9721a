/**
 * The laboratory: what measures or demonstrates gameq, and is not deployed.
 *
 * <pre>
 * demo      a small game, or one made up for a schema, verified row by row
 * bench     commits, drain, logins and recovery, beside the limits of Redis and MySQL
 * peers     the same work done by other libraries (built by the profile "peers" alone)
 * scratch   the servers that these run on: embedded ones, or yours
 * servers   embedded Redis and MariaDB
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab;
