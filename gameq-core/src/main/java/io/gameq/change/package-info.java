/**
 * What a commit is made of, before WAL and Redis see it. Internal.
 *
 * <pre>
 * Commit            an atomic set of changes of rows, of messages, or of both
 *   CommitPart      one session's share (several in a spanning commit)
 *     ChangedRow    a rows.EncodedRow, and what its commit writes into it
 *   message.MessageChange   what it changes of one message
 * FoldedMessages    several changes of one message in one commit are one
 * RowMove             a commit that moved rows, for later changes of these rows
 * CarriedColumns    what a session puts again although its game does not know it
 * Unsettled         what of a session may have to be sent again, from the WAL
 * VersionClock      the hybrid logical clock that versions come from
 * </pre>
 *
 * <p>A part is of a {@link io.gameq.owner.SessionRef}: the session, and whether it still owns.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.change;
