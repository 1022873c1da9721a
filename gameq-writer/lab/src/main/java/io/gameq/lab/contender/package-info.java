/**
 * What is measured: each way to get a game's rows into MySQL, by one interface.
 *
 * <pre>
 * ContenderSource ──▶ ContenderType    a service, found here and in the peers' jar
 *   mysql             sync-3, sync-1, raw-mysql, forgetful, without a queue
 *   redis             seed, raw-redis, plain-client
 *   gameq             gameq itself
 *   (peers)           redisson, hazelcast, ignite, ehcache
 * Contenders          all of them by name
 * ContenderSetup      workload, tuning and place: how one is opened
 * RowBytes            rows for stores that know no columns
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender;
