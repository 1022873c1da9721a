package io.gameq.writer.letters;

import io.gameq.RowRefusedException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.rows.RowEdit;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ValueText;
import io.gameq.terminal.Shown;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.ChangedMeanwhile;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.Edited;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.NotEditable;
import io.gameq.writer.letters.ChosenLetters.LetterFilter;
import io.gameq.writer.letters.ChosenLetters.LetterPage;
import io.gameq.writer.letters.ChosenLetters.ListedLetter;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What an operator does with the dead letters of a database, by command line or console: each
 * change, and each look at values, is in the audit log before it is made, one entry however many
 * letters it concerns. Used by one thread; safe beside nodes, writers and other operators.
 *
 * <p>All methods throw {@link io.gameq.MySqlException} when MySQL does not answer; what was told to
 * a callback is done then, the rest is not.
 */
public final class AuditedLetters {
  private final DeadLetters letters;
  private final Actor actor;

  /** Whoever made the letters closes them. */
  public AuditedLetters(DeadLetters letters, Actor actor) {
    this.letters = letters;
    this.actor = actor;
  }

  /** The letters that a filter lets through now. */
  public ChosenLetters choose(LetterFilter filter) {
    return new ChosenLetters(letters, filter);
  }

  /** Which of these ids no letter has. */
  public List<Long> unknown(List<Long> ids) {
    Set<Long> unknown = new TreeSet<>(ids);
    if (!ids.isEmpty()) {
      choose(new LetterFilter(DeadLetterFilter.ofIds(ids), null))
          .forEach(letter -> unknown.remove(letter.id()));
    }
    return List.copyOf(unknown);
  }

  /**
   * Some letters, in the order of their ids: fewer than there are when two seconds are over, since
   * few fit the filter.
   *
   * @param after where the last page ended, 0 to begin
   * @param most letters of the page; at least 1
   */
  public LetterPage page(ChosenLetters chosen, long after, int most) {
    return chosen.page(after, most);
  }

  /**
   * A letter in full, null when it is gone.
   *
   * @param withValues whether to show the values of its row; that is in the audit log then
   */
  public @Nullable LetterDetail show(long id, boolean withValues) {
    Stored letter = letters.find(id);
    if (letter == null) {
      return null;
    }
    if (withValues) {
      audit("dead show", target(letter), "with values");
    }
    return LetterDetail.of(letters, letter, withValues);
  }

  /**
   * Changes columns of a letter's row, which a retry then writes; its version, key and owner stay.
   *
   * @param revision that of the detail that was looked at
   * @param columns by name, as text; null for NULL. The audit log has the names alone
   */
  public EditOutcome edit(long id, String revision, Map<String, @Nullable String> columns) {
    Stored letter = letters.find(id);
    if (letter == null || !LetterDetail.revision(letter).equals(revision)) {
      return new ChangedMeanwhile();
    }
    return edit(letter, columns, () -> audit("dead edit", target(letter), names(columns)));
  }

  /** The same of many letters; tells what became of each. */
  public void edit(
      ChosenLetters chosen,
      Map<String, @Nullable String> columns,
      BiConsumer<LetterName, EditOutcome> told) {
    audit("dead edit", chosen.filter().toString(), count(chosen) + ", " + names(columns));
    chosen.forEach(letter -> told.accept(LetterName.of(letter), edit(letter, columns, () -> {})));
  }

  /**
   * Writes the rows of letters to MySQL after all, each by itself; never over a newer row. One that
   * another one may make fit is tried again as long as others get through.
   *
   * @param dryRun whether each is tried and rolled back; that is not in the audit log
   * @param told what became of each
   */
  public void retry(ChosenLetters chosen, boolean dryRun, BiConsumer<LetterName, Outcome> told) {
    if (!dryRun) {
      audit("dead retry", chosen.filter().toString(), count(chosen));
    }
    RetryRounds rounds = new RetryRounds(letters.retry(dryRun), told);
    chosen.forEach(letter -> rounds.first(LetterName.of(letter)));
    if (!dryRun) {
      rounds.again();
    }
    rounds.end();
  }

  /**
   * Gives letters up: nothing writes that version again, nor an older one of the row by the same
   * owner.
   *
   * @param told of each whether it was discarded; false when it is gone, or has a newer version by
   *     now and so was kept
   */
  public void discard(ChosenLetters chosen, BiConsumer<LetterName, Boolean> told) {
    audit("dead discard", chosen.filter().toString(), count(chosen));
    chosen.forEach(letter -> told.accept(LetterName.of(letter), letters.discard(letter)));
  }

  /**
   * Hands over letters as JSON objects: as lists have them, with the names of columns.
   *
   * @param withValues whether with the values of their rows, as an edit takes them
   */
  public void export(
      ChosenLetters chosen, boolean withValues, Consumer<Map<String, Object>> object) {
    audit(
        "dead export",
        chosen.filter().toString(),
        count(chosen) + (withValues ? ", with values" : ", without values"));
    chosen.forEach(
        true,
        (letter, state) -> {
          Refused row = letter.refused();
          object.accept(
              ExportedLetter.of(
                  ListedLetter.of(letter, state),
                  row,
                  letters.rows().read(row.key(), row.image()),
                  withValues));
        });
  }

  private EditOutcome edit(
      Stored letter, Map<String, @Nullable String> columns, Runnable beforeIt) {
    byte[] image;
    try {
      image = edited(letter, columns);
    } catch (RowRefusedException e) {
      return new NotEditable(String.valueOf(e.getMessage()));
    }
    beforeIt.run();
    return letters.replace(letter, image) ? new Edited() : new ChangedMeanwhile();
  }

  private byte[] edited(Stored letter, Map<String, @Nullable String> columns) {
    Refused row = letter.refused();
    if (letters.states(List.of(letter)).get(0) == State.SUPERSEDED) {
      throw new RowRefusedException(
          "MySQL holds this version of the row or a newer one: nothing is left to write");
    }
    Reading reading = letters.rows().read(row.key(), row.image());
    if (reading instanceof Decoded decoded) {
      return letters.rows().encode(RowEdit.of(decoded.image(), columns));
    }
    throw new RowRefusedException("its row cannot be decoded: " + ((Undecodable) reading).reason());
  }

  private void audit(String action, String target, String detail) {
    letters.audit(actor, action, target, detail);
  }

  private static String target(Stored letter) {
    LetterName name = LetterName.of(letter);
    return "%s %s".formatted(name.id(), name.row());
  }

  private static String count(ChosenLetters chosen) {
    return Shown.count(chosen.count(), "dead letter");
  }

  private static String names(Map<String, @Nullable String> columns) {
    return "columns " + String.join(", ", new TreeSet<>(columns.keySet()));
  }

  /** What became of an edit of a dead letter. */
  public sealed interface EditOutcome {
    /** The letter has the new values, or would have them. */
    record Edited() implements EditOutcome {}

    /** A value, a column or the letter itself does not allow it, for the reason given. */
    record NotEditable(String reason) implements EditOutcome {}

    /**
     * The letter is not any more as it was looked at: a newer change of the row was refused,
     * somebody edited it, or it is gone. Nothing was changed: look at it again.
     */
    record ChangedMeanwhile() implements EditOutcome {}
  }

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

  /** A dead letter as an export has it: what lists have, and its row. Stateless. */
  static final class ExportedLetter {
    private ExportedLetter() {}

    /** For a JSON object; without values the row is the list of the columns that it names. */
    static Map<String, Object> of(
        ListedLetter listed, Refused letter, Reading reading, boolean withValues) {
      Map<String, Object> values = listed.values();
      if (reading instanceof Decoded decoded) {
        Map<String, @Nullable String> row = row(decoded.image());
        values.put("op", decoded.image().op().name().toLowerCase(Locale.ROOT));
        values.put(withValues ? "row" : "columns", withValues ? row : List.copyOf(row.keySet()));
      } else {
        values.put("bytes", letter.image().length);
        values.put("undecodable", ((Undecodable) reading).reason());
      }
      return values;
    }

    private static Map<String, @Nullable String> row(RowImage image) {
      boolean isDelete = image.op() == RowOp.DELETE;
      List<Column> columns = isDelete ? image.table().keyColumns() : image.table().columns();
      Map<String, @Nullable String> row = new LinkedHashMap<>();
      for (int i = 0; i < columns.size(); i++) {
        if (isDelete || image.names(i)) {
          Object value = image.values()[i];
          row.put(columns.get(i).name(), value == null ? null : ValueText.of(value));
        }
      }
      return row;
    }
  }
}
