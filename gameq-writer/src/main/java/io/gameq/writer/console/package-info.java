/**
 * The console: web pages for operators, served by every writer.
 *
 * <pre>
 * Console            what is served; who may is in io.gameq.writer.console.access
 *   ConsoleFiles     the files of the page itself, which lie beside these classes as resources
 *   OverviewPage     what waits and what is done; Pulse remembers each Beat for its charts
 *   SlotsPage        what waits in each slot
 *   FleetPage        nodes and writers (io.gameq.writer.process)
 *   OwnersPage       finds owners
 *   TracePages       where an owner or a row is (io.gameq.writer.trace)
 *   HeldPage         what is held back, each a HeldState: pauses, parked tables
 *   DeadPages        dead letters (io.gameq.writer.letters); StalePages: stale rows
 *   TopicPages       topics and their messages (io.gameq.writer.admin)
 *   AuditPage        what operators did
 *   ConsoleServers   MySQL and Redis, over connections of its own
 * </pre>
 *
 * <p>A page is a record that the browser gets as JSON and shows as text: nothing is made into HTML,
 * here or there. What a page does is done by the classes that the command line has as well.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.console;
