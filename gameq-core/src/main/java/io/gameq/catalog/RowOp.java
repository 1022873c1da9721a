package io.gameq.catalog;

import io.gameq.GameQueueException;

/** What an encoded row says of its row. */
public enum RowOp {
  /** This is the row now. */
  PUT('p'),
  /** The row is gone. */
  DELETE('d'),
  /** The row belongs to another owner now: it hides the row from the old one. */
  MOVED('m');

  private final byte code;

  RowOp(char code) {
    this.code = (byte) code;
  }

  byte code() {
    return code;
  }

  static RowOp ofCode(byte code) {
    return switch (code) {
      case 'p' -> PUT;
      case 'd' -> DELETE;
      case 'm' -> MOVED;
      default -> throw new GameQueueException("encoded row with the unknown op " + code);
    };
  }
}
