package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;

/**
 * Which dead letter; immutable.
 *
 * @param rowKey the part of the row key after the table
 * @param version of the row, unsigned
 */
public record LetterName(long id, String table, String rowKey, OwnerId owner, long version) {
  static LetterName of(Stored letter) {
    Refused row = letter.refused();
    return new LetterName(letter.id(), row.table(), row.rowKey(), row.owner(), row.version());
  }

  /** On one line: {@code 7 item:42,1 of player:42, version 116...} */
  @Override
  public String toString() {
    return "%s %s, version %s".formatted(id, row(), Long.toUnsignedString(version));
  }

  /** Without its id and version: {@code item:42,1 of player:42} */
  String row() {
    return "%s:%s of %s".formatted(Shown.text(table), Shown.text(rowKey), Shown.text(owner.id()));
  }
}
