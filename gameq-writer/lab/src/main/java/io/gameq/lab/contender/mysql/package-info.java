/**
 * Contenders that end at MySQL without a queue.
 *
 * <pre>
 * MySqlSource             sync-3, sync-1, raw-mysql, forgetful
 *   SynchronousContender  the game thread waits for its upserts
 *   ForgetfulContender    loses on purpose: the harness must find it out
 *   RawMySql              the limit: the final rows as sorted upserts, with a writer's connections
 * PeerTable               upserts without gameq's guard, for all contenders but gameq
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.mysql;
