/**
 * Other libraries as contenders: gameq depends on none of them, so a plain build downloads none.
 *
 * <pre>
 * PeerSource             a service, found once this jar is on the classpath
 *   RedissonContender    RMap with a MapWriter; its queue of changes is in Redis
 *   HazelcastContender   IMap with a MapStore, in heap
 *   IgniteContender      a cache with a store (IgniteTableStore), in memory
 *   EhcacheContender     a loader-writer in coalesced batches, in heap
 * InOrderThread          for those whose asynchronous calls may overtake each other
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.peers;
