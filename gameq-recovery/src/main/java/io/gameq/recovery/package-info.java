/**
 * What the engineer on call runs over the WALs of nodes that are gone.
 *
 * <pre>
 * RecoveryMain -&gt; InspectCommand   what is in WALs                            wal
 *              -&gt; PlanCommand      what of it Redis and MySQL do not hold     plan
 *              -&gt; ReplayCommand    puts it back                               replay, plan
 *              -&gt; VerifyCommand    compares all three                         plan
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery;
