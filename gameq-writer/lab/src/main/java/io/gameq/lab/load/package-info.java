/**
 * The load generator: game threads that act through a contender, and what that costs the process.
 *
 * <pre>
 * GameThreads          the ends that game logic calls: an action in, an Acknowledgement out
 *   Contender          one whose rows get to MySQL, or the limit of a server
 * Load                 each game thread's Actions at a Pace, Until ...
 *   Threads            the same work on some threads
 *   Resources          processor time, allocation and collections (GcPauses) from a moment on
 *   MachineTime        processor time of the whole machine
 *     LoadFigures ──▶ report
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.load;
