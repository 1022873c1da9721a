/**
 * Messages of topics, as they travel: which one, what it holds, and what a commit changes of it.
 *
 * <pre>
 * MessageId      topic, group or none, key; its lane: what is handled one at a time
 * MessageValue   what Redis and the WAL hold of a message: header and payload
 * MessageChange  what a commit does: publish, retime, delete, acknowledge; or what it expects,
 *                else MessageChangedException
 * PayloadText    a payload as operators read and edit it
 *
 * value = version, 16 hex digits | since, ms as a double (8) | priority (4) |
 *         bytes of the schedule (2) | schedule | payload          big-endian
 * </pre>
 *
 * <p>The version is that of the commit, and is written into the value when it is sent; {@code
 * since} is when the pending message was first published, and stays when it is overwritten.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.message;
