package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.letters.EditOutcome;
import io.gameq.writer.letters.EditOutcome.Edited;
import io.gameq.writer.letters.EditOutcome.NotEditable;
import io.gameq.writer.letters.LetterDetail;
import io.gameq.writer.letters.LetterName;
import io.gameq.writer.terminal.Confirmation;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code dead edit}: changes columns of rows before they are retried. */
@Command(
    name = "edit",
    description = "Changes columns of the rows in dead letters; 'dead retry' writes them then.",
    footer = {
      "",
      "A value is checked as one that the game puts. Key columns, the owner column and gq_version"
          + " stay. The row keeps its version: a retry never replaces a newer row. A letter that a"
          + " newer change of its row took meanwhile is not edited. The audit log has the names of"
          + " the columns, never a value.",
      "",
      "Values: 5, 1.25, text as it is, 0x00ff for bytes, 2026-11-21, '2026-11-21 10:53:00' (UTC),"
          + " 10:53:00."
    })
final class DeadEditCommand extends LetterCommand {
  @Mixin private LetterSelection selection = new LetterSelection();
  @Mixin private ColumnOptions columns = new ColumnOptions();
  @Mixin private Confirmation confirmation = new Confirmation();

  @Override
  void check() {
    selection.check();
  }

  /** Returns 1 when an id is unknown, or a letter was not edited. */
  @Override
  int work(AuditedLetters letters) {
    Long single = selection.single();
    if (single != null) {
      LetterDetail detail = letters.show(single, false);
      if (detail == null) {
        return absent(single);
      }
      // The revision of before the operator was asked for values.
      Map<String, @Nullable String> values = columns.read();
      return told(detail.letter().name(), letters.edit(single, detail.revision(), values))
          ? ExitCodes.OK
          : ExitCodes.FOUND_SOMETHING;
    }
    ChosenLetters chosen = selection.choose(letters);
    return chosen == null ? ExitCodes.FOUND_SOMETHING : edit(letters, chosen);
  }

  private int edit(AuditedLetters letters, ChosenLetters chosen) {
    Map<String, @Nullable String> values = columns.read();
    long[] counts = new long[2];
    if (chosen.count() > 0) {
      confirmation.require("Set %s of %s?".formatted(String.join(", ", values.keySet()), chosen));
      LetterProgress progress = new LetterProgress(err(), chosen.count());
      letters.edit(
          chosen,
          values,
          (letter, outcome) -> {
            counts[told(letter, outcome) ? 0 : 1]++;
            progress.one();
          });
    }
    out().println(Shown.count(counts[0], "dead letter") + " edited");
    return counts[1] == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  /** Prints what became of an edit; returns whether it was made. */
  private boolean told(LetterName letter, EditOutcome outcome) {
    if (outcome instanceof Edited) {
      out().println("edited " + letter);
      return true;
    }
    out()
        .println(
            letter
                + (outcome instanceof NotEditable refused
                    ? ": not edited (%s)".formatted(Shown.text(refused.reason()))
                    : ": not edited, it changed meanwhile: look at it again"));
    return false;
  }
}
