/**
 * Which Redis primary counts. After a failover two primaries may take writes, each from those that
 * reach it; MySQL says which one counts, as a term: a number, and the primary that it belongs to.
 * Internal.
 *
 * <pre>
 * connect   read the term in MySQL, then connect and ask the server (and Sentinel) who it is
 *   same    it is the primary of the term
 *   newer   it took over from that primary: the term is moved on, by compare and set
 *   older   it was demoted, or nothing proves that it took over: nobody talks to it
 * open      the last statement before the commit that sets a session open locks the term and
 *           compares the number
 * flush     the first statement compares the number of the connection that the rows were claimed
 *           over
 * watch     once a second: does MySQL still name this number, and Sentinel this address; else go
 *           over
 * </pre>
 *
 * <p>The flush reads the number without a lock, or a writer that hangs would keep everybody from
 * going over; that is enough, since a session that is opened elsewhere meanwhile waits for the
 * flush's lock on its owner. An open has to lock it: else a session could be set open by way of the
 * old primary after another node read, on the new one, that its own still counts. It does so when
 * all is loaded, so that nobody waits for a node that stalls in the middle.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.term;
