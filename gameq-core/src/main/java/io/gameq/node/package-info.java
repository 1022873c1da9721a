/**
 * A game node: start, open, read, commit, close. Internal.
 *
 * <pre>
 * GameQueue.open   NodeStart         connects NodeMySql and NodeRedis; EarlierWalPolicy;
 *                                    makes the WAL; starts sender and background work
 *                    GameNode        the parts of a running node; NodeState: alive, closed
 * queue.open       OwnerOpening      one open of an owner at a time, in the time of a call
 *                    Opening         its states; each step is one operation of one server
 *                      OpeningPorts  what the steps work with; PrimaryForOpens, and
 *                                    ConnectionAfterHealing: the connection of an attempt
 *                      AdoptedRows   what open.lua returned; LostAdoption: to an attempt before
 *                    SessionAdoption makes the session known to WAL, sender and
 *                                    durability.NodeSessions
 * queue.read       OwnerReading      Redis, then MySQL
 * session.put ...  NodeSession       GameRows: between the game's records and encoded rows;
 *                    ChangeStaging   checks each change; StagedChanges: what is not committed yet
 * queue.transact   StagedChangeSet   what the game's code stages, beside what sessions have
 * session.current  CurrentRows       what the session committed of tables that were asked for
 * session.commit   SessionCommits    CommitChecks: owned, within limits, moves whole;
 *                                    CommitRoom: waits for room; HandledBefore: no message twice
 * queue.send       SentRow           checked as a put; Inboxes: where it goes
 * session.onSent   SentToGame        what others sent to the owner: RowsSent
 * session.close    SessionClosing    waits until Redis has all, and tells it
 * queue.topic      NodeQueue         makes io.gameq.topic.NodeTopics; NodeMessages: its commits
 * queue.close      NodeClosing       closes the WAL as complete when all is in MySQL;
 *                                    ResourceStack: what else is to be closed
 *
 * Threads of the game wait in NodeCalls (TimedCalls), never longer than callTimeout.
 * In the background: SignsOfLife and io.gameq.upkeep, run by io.gameq.agent. StateSigns tells
 * operators how the node is, by FiguresNow; MeteredNode is what io.gameq.metrics sees of it.
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.node;
