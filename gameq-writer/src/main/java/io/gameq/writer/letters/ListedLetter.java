package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.writer.mysql.DeadLetters.State;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A dead letter as lists have it, without its row; immutable.
 *
 * @param attempts how often the row was tried
 * @param errorCode MySQL's, 0 for an error of gameq's own, -1 for a row of another owner
 * @param error as MySQL said it: to be escaped by whoever shows it
 */
public record ListedLetter(
    LetterName name, State state, int attempts, Instant refusedAt, int errorCode, String error) {
  static ListedLetter of(Stored letter, State state) {
    Refused row = letter.refused();
    return new ListedLetter(
        LetterName.of(letter),
        state,
        row.attempts(),
        letter.refusedAt(),
        row.errorCode(),
        row.errorText());
  }

  /** For a JSON object, in this order: times in UTC, the version as text. */
  public Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("id", name.id());
    values.put("table", name.table());
    values.put("key", name.rowKey());
    values.put("owner", name.owner().id());
    values.put("version", Long.toUnsignedString(name.version()));
    values.put("state", LetterFilter.name(state));
    values.put("attempts", attempts);
    values.put("refusedAt", refusedAt.toString());
    values.put("errorCode", errorCode);
    values.put("error", error);
    return values;
  }
}
