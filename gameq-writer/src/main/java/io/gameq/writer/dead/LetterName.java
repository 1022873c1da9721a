package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.terminal.Shown;

/** How lines name a dead letter. Stateless. */
final class LetterName {
  private LetterName() {}

  /** {@code 7 item:42,1 of player:42, version 116...} */
  static String of(Stored letter) {
    Refused row = letter.refused();
    return "%d %s:%s of %s, version %s"
        .formatted(
            letter.id(),
            Shown.text(row.table()),
            Shown.text(row.rowKey()),
            Shown.text(row.owner().id()),
            Long.toUnsignedString(row.version()));
  }
}
