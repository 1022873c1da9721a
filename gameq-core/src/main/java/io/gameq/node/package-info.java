/**
 * A game node: start, open, read, commit, close. Internal.
 *
 * <pre>
 * GameQueue.open   GameNode          connects NodeServers; earlier WALs; makes the WAL; starts the
 *                                    sender; knows whether it is alive, closed
 *                  NodeUpkeep        starts the heartbeat and the duties
 *                  NodeQueue         what the game calls
 * queue.open       OwnerOpener       one open of an owner at a time, in the time of a call; makes
 *                                    the session known to WAL, sender and durability.NodeSessions
 *                    OpenState         its states; each step is one operation of one server
 * queue.openAll    OwnerOpener.BulkOpener  many, so that opens of others have their turn as well
 * queue.read       NodeQueue         Redis, then MySQL
 * session.current  OpenOwner         what was loaded, committed since, and sent by others
 * session.put ...  StagedChanges     checks each change, with view.GameRows; what is not committed
 * queue.transact     StagedChangeSet what the game's code stages, beside what sessions have
 * session.commit   SessionCommits    owned, within limits, moves whole; waits for room; no message
 *                                    is handled twice
 * queue.send       SessionCommits    checks as for a put; into which inbox it goes
 * session.onSent   NodeSession       what others sent to the owner
 * session.close    ClosedSessions    waits until Redis has all, and tells it
 * queue.topic      NodeQueue         subscription.NodeTopics; SessionCommits: its commits
 * queue.ids        NodeQueue         out of ranges that are taken in MySQL
 * queue.close      NodeQueue         closes the WAL as complete when all is in MySQL
 *
 * Threads of the game wait in NodeCalls, never longer than callTimeout. In the background:
 * NodeUpkeep, the heartbeat and a list of duties: MissingRows, SentRowNotices, retention. NodeQueue
 * is what io.gameq.metrics sees of a node.
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.node;
