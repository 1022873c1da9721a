/**
 * What a process counts, and what it says of itself to operators. A process writes it into Redis,
 * beside its sign of life and without a meaning for healing; commands, console and meters read it.
 * Numbers and names only, never a value of a row. Internal.
 *
 * <pre>
 * NodeCounts        what a node did: CommitOutcome by outcome, heals, conflicts
 *   CommitTimes     is told how long commits took
 * Protocol          the number of all formats together, and which of them this build speaks
 * NodeSign          what a node says: its ProcessIdentity, sessions, WAL, healings
 * SignFields        a record as the fields of a hash, and back
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.sign;
