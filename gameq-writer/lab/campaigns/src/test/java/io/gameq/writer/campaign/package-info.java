/**
 * The fault campaign: real processes on real servers, faults at random moments from a printed seed,
 * and a history that is checked at the end.
 *
 * <pre>
 * CampaignTest            each seed x each fault of {@link io.gameq.writer.campaign.Faults}
 *   CampaignServers       one Redis and one MariaDB for all cases, which faults kill, stop and fill
 *   Campaign              one case: load, faults, healing, drain, checks
 *     World               a fresh database and namespace with
 *       NodeProcess x 2     CampaignNode: CampaignPlayer x 3 over 12 owners, which are handed
 *                           and taken over; rows sent to these and to 4 others; messages, of the
 *                           package below, which both share
 *       WriterProcess x 2   gameq-writer run, lease 5 s
 *         io.gameq.servers.FaultProxy  between every process and each of its servers
 *       ReadingPlayer       reads owners without a session, all the time
 *     Fault               NodeFaults, WriterFaults, MySqlFaults, RedisFaults, NetworkFaults,
 *                         HostFaults, MessageFaults, SchemaFaults, ClockFaults
 *     DrainCheck          Redis holds nothing that waits
 *     Checker             history and reads against MySQL
 *     SentChecks          rows that were sent: with what, and who knows of them
 *     messages.MessageChecker
 *                         what was published and handled against dead letters and rows
 *     HistoryReplay       all acknowledged images of all WALs flushed twice more change nothing
 * CampaignReport          target/campaign.md, target/campaign.json
 * UpgradeCampaignTest     the same checks of an upgrade from the ReleaseBefore, and back
 * </pre>
 *
 * <p><b>Moments.</b> A fault between two steps is not left to luck: a {@link
 * io.gameq.writer.campaign.Trap} at the proxy waits for a message by its text (EXEC, the SHA of a
 * script, COMMIT), after a random number of others, and kills or stops the process while the
 * message, or its reply, is held. "After COMMIT, before the ack" is a COMMIT whose reply is held;
 * "after the WAL, before EXEC" is an EXEC that never arrives. Only "before the WAL" needs the
 * node's help: it dies by itself right after it wrote down that it is about to commit.
 *
 * <p><b>Clocks.</b> Redis, and nodes in cases that ask for it, have a {@link
 * io.gameq.servers.ProcessClock} of their own, which is set under load; each case proves that it
 * moved. What nodes publish while Redis' clock is ahead keeps its time: that time comes at the end,
 * when all rows are in MySQL.
 *
 * <p><b>History.</b> Each commit writes a value that no other commit writes, its id, so that a row
 * names its writer. A node notes the commit before it invokes it, and its outcome after, in a file
 * whose lines survive kill -9. Times are those of the host's monotonic clock, which all processes
 * share. Since an owner is written by one session at a time, writes that took effect are ordered by
 * when they were invoked; no version is needed for that.
 *
 * <p><b>What is checked.</b> For MySQL at the end, and for every read and every open on the way:
 * the value is that of the newest write that was acknowledged, or was seen by anybody, before the
 * look began, or of a later one that may have happened (unanswered, unknown). Never that of a
 * failed commit, of an earlier write, of a row under an owner that gave it away, nor of a session
 * that wrote after its successor had opened. One seen row of a commit makes all of it acknowledged.
 * A row set aside as a dead letter counts as reported, but for rows that exchange unique values or
 * lie in a bag, when all commits of their owner were acknowledged: those are valid. Each row in
 * MySQL has the version that a WAL logged with its value.
 *
 * <p>Rows are sent alone and with other changes: to owners that the same node has, that the other
 * one has, that nobody has, as they are closed and handed over. Sessions change and delete what
 * they were sent. At the end whoever has an owner has loaded each of its rows, or was told of it; a
 * commit that sent rows is there whole or not at all; and no key of them counted as one in use.
 *
 * <p>A column that was added while nodes ran has, at the end, what a node put that knows it: no
 * node that does not know it may have set it back ({@link io.gameq.writer.campaign.LateColumns}).
 *
 * <p>Files of a case that failed stay in {@code target/campaign/seed-fault}: histories, logs, WALs.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.campaign;
