/**
 * The console: web pages for operators, served by every writer.
 *
 * <pre>
 * Console            what is served; slots, nodes and writers, settings and audit log as tables
 *   GuardedRoutes    who may see and do what; Sessions, RequestBody
 *   OverviewPage     what waits and what is done
 *   OwnerPages       finds owners, and traces an owner or a row (io.gameq.writer.trace)
 *   HeldPages        what is held back, each a HeldState: pauses, parked tables; flush now
 *   DeadPages        dead letters (io.gameq.writer.admin); StalePages: stale rows
 *   TopicPages       topics and their messages (io.gameq.writer.admin)
 *   ConsoleServers   MySQL and Redis, over connections of its own
 * </pre>
 *
 * <p>A page is a record that the browser gets as JSON and shows as text: nothing is made into HTML,
 * here or there. What a page does is done by the classes that the command line has as well.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.console;
