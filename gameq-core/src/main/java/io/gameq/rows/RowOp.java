package io.gameq.rows;

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

  /** A capital letter says that the row tells of handovers. */
  byte code(boolean tellsOfHandovers) {
    return tellsOfHandovers ? (byte) Character.toUpperCase(code) : code;
  }

  static boolean tellsOfHandovers(byte code) {
    return code >= 'A' && code <= 'Z';
  }

  static RowOp ofCode(byte code) {
    return switch (Character.toLowerCase(code)) {
      case 'p' -> PUT;
      case 'd' -> DELETE;
      case 'm' -> MOVED;
      default -> throw new GameQueueException("encoded row with the unknown op " + code);
    };
  }
}
