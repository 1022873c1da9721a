/**
 * Contenders that end at MySQL without a queue.
 *
 * <pre>
 * MySqlSource             sync-3, sync-1, raw-mysql, forgetful
 *   SynchronousContender  the game thread waits for its upserts
 *   ForgetfulContender    loses on purpose: the harness must find it out
 *   BatchingContender     the limit under a load: full transactions, with a writer's connections
 * RawMySql                the limit of a drain: the final rows, ready and sorted
 *   GuardedTransactions   gameq's own statement and sizes, for both limits
 * PeerTable               upserts without gameq's guard, for all contenders but gameq
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.mysql;
