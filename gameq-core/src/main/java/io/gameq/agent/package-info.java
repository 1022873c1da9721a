/**
 * Work in the background, in one skeleton: an {@link io.gameq.agent.AgentRunner.Agent} does its
 * work in steps, an {@link io.gameq.agent.AgentRunner} has a thread and a list of agents, and tells
 * the log what they throw. No other package makes a thread: {@link
 * io.gameq.agent.AgentRunner.DaemonThreads} does.
 *
 * <pre>
 * AgentRunner            one thread
 *   Agent.doWork()       a step; 0 when there was nothing to do, and it is asked again
 *                        after idleNanos(), or when the runner is woken
 *     Duty               an agent that does one thing every so often
 *   Agent.close()        on the same thread, after its last step
 * RateLimit              what it takes of a server a second
 * </pre>
 */
@NullMarked
package io.gameq.agent;

import org.jspecify.annotations.NullMarked;
