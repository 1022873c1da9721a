/**
 * What the engineer on call runs over the WALs of nodes that are gone.
 *
 * <pre>
 * Main -&gt; InspectCommand   what is in WALs                                      wal
 * -&gt; PlanCommand      what of it Redis and MySQL do not hold any more     plan -&gt; redis, mysql
 * -&gt; ReplayCommand    puts it back                                        replay -&gt; plan, redis, mysql
 * -&gt; VerifyCommand    compares all three                                  plan
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery;
