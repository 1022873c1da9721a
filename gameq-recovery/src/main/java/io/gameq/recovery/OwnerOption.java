package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The owners that a command is about; mix it in. */
final class OwnerOption {
  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description =
          "Only these owners, as the game writes them: player:42; may be repeated (default: all).")
  private List<String> owners = new ArrayList<>();

  /**
   * Encoded ids; empty for all.
   *
   * @throws GameQueueException when one is no owner id
   */
  Set<String> encoded() {
    Set<String> encoded = new LinkedHashSet<>();
    owners.forEach(owner -> encoded.add(OwnerId.of(owner).encoded()));
    return encoded;
  }

  /** Refuses owners of whom no WAL holds anything: they are misspelt, or the WAL is another. */
  void requireFound(PlanTotals totals) {
    if (!owners.isEmpty() && totals.all() == 0) {
      throw new GameQueueException(
          "these WALs hold no row of " + String.join(", ", owners) + ": is the owner right?");
    }
  }

  String asArguments() {
    return owners.stream()
        .map(owner -> " --owner " + ServerOptions.quoted(owner))
        .collect(Collectors.joining());
  }
}
