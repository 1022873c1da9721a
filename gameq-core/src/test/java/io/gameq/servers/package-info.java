/** The real Redis and MySQL that tests run against, chosen once per JVM. */
@org.jspecify.annotations.NullMarked
package io.gameq.servers;
