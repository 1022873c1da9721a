package io.gameq.writer.dead;

import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.ChosenLetters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The dead letters that a command is to work on; mix it in. Used by one thread. */
final class LetterSelection {
  /** One statement reads them. */
  private static final int MOST_IDS = 1_000;

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Parameters(
      arity = "0..*",
      paramLabel = "ID",
      description = "Ids, as 'dead list' shows them; or give --all, or options such as --owner.")
  private List<Long> ids = new ArrayList<>();

  @Mixin private FilterOptions filter = new FilterOptions();

  @Option(names = "--all", description = "All dead letters.")
  private boolean all;

  /**
   * Checks that letters are chosen in one way only.
   *
   * @throws CommandLine.ParameterException otherwise
   */
  void check() {
    if ((ids.isEmpty() ? 0 : 1) + (filter.given() ? 1 : 0) + (all ? 1 : 0) != 1) {
      throw wrong("give ids, or --all, or options such as --owner, --table or --code");
    }
    if (ids.size() > MOST_IDS) {
      throw wrong(
          String.format(
              Locale.ROOT, "%,d ids are too many: give %,d at most", ids.size(), MOST_IDS));
    }
  }

  /** The one letter that is meant, or null when several may be. */
  @Nullable Long single() {
    return ids.size() == 1 ? ids.get(0) : null;
  }

  /** The letters; null when an id is unknown, which is said on the command's stderr. */
  @Nullable ChosenLetters choose(AuditedLetters letters) {
    List<Long> unknown = letters.unknown(ids);
    if (!unknown.isEmpty()) {
      Objects.requireNonNull(command)
          .commandLine()
          .getErr()
          .println(
              ("there is no dead letter %s: nothing was done, 'dead list' shows those that there"
                      + " are")
                  .formatted(
                      unknown.stream().map(String::valueOf).collect(Collectors.joining(", "))));
      return null;
    }
    return letters.choose(filter.filter(ids));
  }

  private CommandLine.ParameterException wrong(String problem) {
    return new CommandLine.ParameterException(
        Objects.requireNonNull(command).commandLine(), problem);
  }
}
