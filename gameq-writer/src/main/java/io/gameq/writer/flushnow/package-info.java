/**
 * {@code gameq-writer flush}: has what waits written at once, and tells when it is.
 *
 * <pre>
 * FlushCommand     one owner, some, or all; waits for it
 *   FlushNow       makes them due, for the console too: audited, before it is done
 *   FlushProgress  what of them is not in MySQL yet
 *     OwnersLeft   of some owners: all of them are looked at
 *     SlotsLeft    of all: slot by slot, some owners at a time
 *   WhyWaiting     why it is not, as far as that can be seen from outside
 * </pre>
 *
 * <p>What counts is a row's version: rows that were committed until a second after the flush was
 * asked for. So it ends in a game that goes on.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.flushnow;
