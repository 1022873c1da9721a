/**
 * The console: web pages for operators, served by every writer.
 *
 * <pre>
 * Console            what is served; what waits and is done, nodes, settings and audit log
 *   ConsoleRoutes    who may see and do what; ConsoleSessions, ConsoleRequest
 *   RowPages         owners, rows, dead letters, stale rows (io.gameq.writer.trace, .admin)
 *   HoldPages        what is held back, each a HoldView: pauses, parked tables; flush now
 *   TopicPages       topics and their messages (io.gameq.writer.admin)
 *   ConsoleServers   MySQL and Redis, over connections of its own
 * </pre>
 *
 * <p>An answer is JSON that the browser shows as text: nothing is made into HTML, here or there.
 * What a page does is done by the classes that the command line has as well.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.console;
