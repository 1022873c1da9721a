/**
 * The log of a running writer, by its settings; the only package that knows the logging back end.
 *
 * <pre>
 * LogOutput        what service.RunCommand calls
 *   LogbackSetup     levels, and one appender on stderr; what commands have from the start
 *     LineEncoder      events to bytes
 *       LogLines         text | key=value | JSON
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.logs;
