/**
 * A game node: start, open, read, commit, close. Internal.
 *
 * <pre>
 * GameQueue.open   GameNode          connects NodeServers; earlier WALs; makes the WAL; starts
 *                                    sender and background work; knows whether it is alive, closed
 *                  NodeQueue         what the game calls, with the parts of one GameNode
 * queue.open       OwnerOpening      one open of an owner at a time, in the time of a call; makes
 *                                    the session known to WAL, sender and durability.NodeSessions
 *                    Opening         its states; each step is one operation of one server
 * queue.openAll    OwnerOpening.Many many, so that opens of others have their turn as well
 * queue.read       NodeQueue         Redis, then MySQL
 * session.put ...  NodeSession       GameRows: between the game's records and encoded rows;
 *                    StagedChanges   checks each change; what is not committed yet
 * queue.transact   StagedChangeSet   what the game's code stages, beside what sessions have
 * session.current  CurrentRows       what the session committed of tables that were asked for
 * session.commit   SessionCommits    owned, within limits, moves whole; waits for room; no message
 *                                    is handled twice
 * queue.send       SessionCommits    GameRows checks as for a put; into which inbox it goes
 * session.onSent   NodeSession       what others sent to the owner
 * session.close    SessionClosing    waits until Redis has all, and tells it
 * queue.topic      NodeQueue         subscription.NodeTopics; SessionCommits: its commits
 * queue.ids        NodeIds           out of ranges that are taken in MySQL
 * queue.close      GameNode          closes the WAL as complete when all is in MySQL
 *
 * Threads of the game wait in NodeCalls, never longer than callTimeout. In the background:
 * NodeStatus, the heartbeat and how the node is; NodeUpkeep, a list of duties: MissingRows,
 * SentRowNotices, retention. NodeQueue is what io.gameq.metrics sees of a node.
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.node;
