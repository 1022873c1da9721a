/**
 * What the engineer on call runs over the WALs of nodes that are gone. What became of their rows,
 * and putting back what is lost, is {@link io.gameq.healing}, as for a node that starts beside a
 * WAL.
 *
 * <pre>
 * RecoveryMain -&gt; InspectCommand   what is in WALs
 *              -&gt; PlanCommand      what of it Redis and MySQL do not hold: Plan
 *              -&gt; ReplayCommand    puts it back: into Redis, or by mysql.MySqlTarget into MySQL
 *                                  Conflicts: rows that a later session did not see, by wish
 *              -&gt; VerifyCommand    compares all three
 * WalCommand                      what they have in common
 * ServerOptions                   which servers, as options or in the file of --config
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery;
