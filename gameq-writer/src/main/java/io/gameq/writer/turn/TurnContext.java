package io.gameq.writer.turn;

import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.writer.pause.Pauses;
import java.util.function.Supplier;

/** What all turns of a writer share. Thread-safe. */
public record TurnContext(
    WriterOptions options, Tables mysql, HoldUps holdUps, TurnReports reports) {
  /** What a turn asks of MySQL. */
  public record Tables(
      OwnerTable sessions, OwnerReader reader, RowDecoder decoder, FlushTransaction flush) {}

  /** What holds up flushes: MySQL as a whole, tables, owners; and what operators paused. */
  public record HoldUps(
      OutageGate mysql, ParkedTables tables, HeldUpOwners owners, Supplier<Pauses> pauses) {
    /** Whether what a row refers to may be held back, by operators or since it does not fit. */
    boolean holdSomeBack() {
      return pauses.get().holdSomeBack() || tables.keepsSome();
    }
  }
}
