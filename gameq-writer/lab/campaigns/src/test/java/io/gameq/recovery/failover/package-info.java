/**
 * The failover campaign: a Redis that forgets what it had acknowledged, and the history that is
 * checked when nodes have healed.
 *
 * <pre>
 * FailoverCampaignTest      each seed x each failover of {@link
 *                           io.gameq.recovery.failover.Failovers}
 *   FailoverCampaign        one case: load, failover, healing, drain, checks
 *     FailoverWorld         a fresh database and namespace with
 *       RedisTopology         a primary, a replica or two, three Sentinels (quorum 2)
 *         Member, Door          each server behind proxies, one each for clients, Sentinels,
 *                               servers
 *       campaign.NodeJvm x 2, campaign.WriterJvm x 2: of the fault campaign, as are reader,
 *                             history and checker
 *     Failover              PrimaryFaults, SecondFaults, NodeGoneFaults, ClockFailovers
 *       RecoveryTool          gameq-recovery as a process, for nodes that are gone
 *     Losses                what Redis forgot
 * FailoverReport            target/failover.md, target/failover.json
 * FailoverTest              one of them, quick
 * </pre>
 *
 * <p><b>Losing.</b> kill -9 on one host loses nothing: what was acknowledged has left for the
 * replica. So replication is cut first, for a random time, at the primary's {@link
 * io.gameq.recovery.failover.Door}; merge windows are long, so that much of what is then
 * acknowledged is not in MySQL either. What Redis forgot are the commits between the journal marks
 * of the old primary when it went and those of its successor when it was cut off. A case in which
 * nothing was forgotten that MySQL had not got has tested nothing, and fails.
 *
 * <p><b>Partitions.</b> Sentinels come from 127.0.0.2, servers from 127.0.0.3, clients from
 * 127.0.0.1. So a door can leave the old primary with its clients, who go on being acknowledged,
 * while the Sentinels promote another. Its clients leave it within about a second then, by the
 * Redis term, although Sentinel demotes it only when it sees it again: so what it alone holds is
 * counted at the moment when the other one is promoted. By the time of its demotion all of that has
 * been put back. What happens on both sides at once has to happen in that second: nodes that are
 * stopped at the promotion go on as clients of the old primary. A planned failover counts what the
 * old primary holds until it is demoted.
 *
 * <p><b>Clocks.</b> In cases that set clocks each server and node has one of its own, {@link
 * io.gameq.servers.ProcessClock}.
 *
 * <p><b>What is checked.</b> All that the fault campaign checks, with two differences. From just
 * before replication is cut until every node has healed, a read may miss what was acknowledged. And
 * what was reported as a conflict, by a node or by the tool, need not be there; before the end each
 * node is given time to say of every acknowledged commit that it is durable or lost. What a session
 * wrote last before another node took its owner over in that time may be hidden from reads: the new
 * session may have overwritten it without having seen it, which nobody can tell from a merge. Rows
 * that were sent, of which the session that has their owner was never told, are counted only; so
 * are halves of commits with such rows, where the other half was reported.
 *
 * <p><b>Times</b> count from the primary's death, or, where it lives on, from the promotion of
 * another (of a planned failover: from its demotion): to the first acknowledgement of what was
 * committed since, and to the last node's line that it healed.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.failover;
