package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterTable.Extent;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.writer.mysql.DeadLetters;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The dead letters that a command is to change; mix it in. Used by one thread. */
final class LetterSelection {
  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Parameters(
      arity = "0..*",
      paramLabel = "ID",
      description = "Ids, as 'dead list' shows them; or give --owner, --table or --all.")
  private List<Long> ids = new ArrayList<>();

  @Mixin private FilterOptions filter = new FilterOptions();

  @Option(names = "--all", description = "All dead letters.")
  private boolean all;

  /** What the selection comes to in a database. */
  final class Chosen {
    private final DeadLetters letters;
    private final List<Long> chosen;
    private final Extent extent;

    private Chosen(DeadLetters letters) {
      this.letters = letters;
      this.chosen = List.copyOf(new TreeSet<>(ids));
      this.extent =
          chosen.isEmpty() ? letters.extent(filter.filter()) : new Extent(chosen.size(), 0);
    }

    long count() {
      return extent.count();
    }

    void forEach(Consumer<Stored> action) {
      if (chosen.isEmpty()) {
        letters.pages(
            filter.filter(),
            extent.lastId(),
            page -> {
              page.forEach(action);
              return true;
            });
      }
      for (Long id : chosen) {
        Stored letter = letters.find(id);
        if (letter != null) {
          action.accept(letter);
        }
      }
    }
  }

  /**
   * Checks that letters are chosen in one way only.
   *
   * @throws CommandLine.ParameterException otherwise
   */
  void check() {
    if ((ids.isEmpty() ? 0 : 1) + (filter.given() ? 1 : 0) + (all ? 1 : 0) != 1) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(command).commandLine(), "give ids, or --owner, --table or --all");
    }
  }

  /** The letters; null when an id is unknown, which is said on {@code err}. */
  @Nullable Chosen choose(DeadLetters letters, PrintWriter err) {
    String unknown =
        ids.stream()
            .filter(id -> letters.find(id) == null)
            .map(String::valueOf)
            .collect(Collectors.joining(", "));
    if (!unknown.isEmpty()) {
      err.println(
          "there is no dead letter %s: nothing was done, 'dead list' shows those that there are"
              .formatted(unknown));
      return null;
    }
    return new Chosen(letters);
  }
}
