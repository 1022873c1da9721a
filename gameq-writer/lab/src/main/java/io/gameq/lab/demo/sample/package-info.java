/**
 * The demo's own game, and an example of how a game holds its rows: one record class for each
 * table, immutable rows in the memory of a {@code SamplePlayer}, every change a new row that is put
 * in the session.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo.sample;
