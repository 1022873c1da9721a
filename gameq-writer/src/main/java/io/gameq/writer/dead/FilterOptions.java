package io.gameq.writer.dead;

import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.owner.OwnerId;
import io.gameq.writer.letters.LetterFilter;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.terminal.Moment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that choose dead letters by what they are; mix them in. */
final class FilterOptions {
  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description = "Those of one owner, as the game writes it: player:42.")
  private @Nullable String owner;

  @Option(names = "--table", paramLabel = "TABLE", description = "Those of one table.")
  private @Nullable String table;

  @Option(
      names = "--code",
      paramLabel = "CODE",
      description =
          "Those with one error code: MySQL's, 0 for an error of gameq's own, -1 for a row that"
              + " belongs to another owner.")
  private @Nullable Integer code;

  @Option(
      names = "--error",
      paramLabel = "TEXT",
      description = "Those whose error has this text in it, in capital letters or not.")
  private @Nullable String error;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = Moment.class,
      description = "Those refused since then: " + Moment.FORMS)
  private @Nullable Instant since;

  @Option(
      names = "--before",
      paramLabel = "TIME",
      converter = Moment.class,
      description = "Those refused before then, given in the same way.")
  private @Nullable Instant before;

  @Option(
      names = "--state",
      paramLabel = "STATE",
      completionCandidates = StateNames.class,
      description = "Those that are in a state now: ${COMPLETION-CANDIDATES}.")
  private @Nullable State state;

  /** What a shell completes. */
  private static final class StateNames extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    StateNames() {
      super(Arrays.stream(State.values()).map(LetterFilter::name).toList());
    }
  }

  /** Whether one of them was given. */
  boolean given() {
    return !stored(List.of()).isAll() || state != null;
  }

  /**
   * The filter; lets everything through when none was given.
   *
   * @param ids empty for whichever
   * @throws io.gameq.GameQueueException when the owner is no owner id
   */
  LetterFilter filter(List<Long> ids) {
    return new LetterFilter(stored(ids), state);
  }

  private DeadLetterFilter stored(List<Long> ids) {
    return new DeadLetterFilter(
        ids, owner == null ? null : OwnerId.of(owner), table, code, error, since, before);
  }
}
