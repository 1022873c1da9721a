/**
 * Owners and their sessions by name, as Redis keys, MySQL columns and log lines say them. Internal.
 *
 * <pre>
 * OwnerId             kind:key as the game wrote it, and percent-encoded; which slot it is in
 * SessionId           epoch (MySQL counts it up) and nonce: one attempt to open an owner
 *                     an inbox: what one node sends to an owner, under a session that nobody opens
 * SessionRef          a session of this node, and whether it is known to be lost
 * CountingSessions    an owner's newest session in MySQL, and the one before it while that opens
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.owner;
