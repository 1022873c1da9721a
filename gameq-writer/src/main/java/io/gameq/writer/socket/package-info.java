/**
 * Commands that only look are answered by a writer that runs on the same host: a JVM that is warm.
 *
 * <pre>
 * client -> writer   {@link io.gameq.writer.socket.CommandRequest}
 * writer -> client   1 accepted; else it closes, and the command runs in the client's JVM
 * writer -> client   stream (1 stdout, 2 stderr), length, bytes; again and again
 * writer -> client   0, exit code
 * </pre>
 *
 * A client that goes away ends its command.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.socket;
