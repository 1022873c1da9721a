/**
 * What a commit is made of, before WAL and Redis see it. Internal.
 *
 * <pre>
 * Commit            an atomic set of row changes
 *   CommitPart      one session's share (several in a spanning commit)
 *     ChangedRow    an EncodedRow, and what its commit writes into it
 * Trade             a commit that moved rows, for later changes of these rows
 * SessionRef        the session, and whether it still owns
 * CountingSessions  which sessions of an owner count, by MySQL
 * VersionClock      the hybrid logical clock that versions come from
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.change;
