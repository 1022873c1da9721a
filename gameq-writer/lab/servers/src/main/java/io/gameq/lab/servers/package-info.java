/**
 * A Redis and a MariaDB out of jars, for demos and tests on a machine without servers.
 *
 * <pre>
 * EmbeddedRedis, EmbeddedMariaDb   what callers start and close
 *   ServerBinaries                 unpacks the programs from the classpath
 *   WorkDirectory                  where a server runs; a temporary one is deleted at close
 *   ServerProcess                  the child process, which never outlives this JVM
 * </pre>
 *
 * The programs come from optional dependencies; without them a start says so. Nothing here is for
 * production: no replication, no backup, loopback only.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.servers;
