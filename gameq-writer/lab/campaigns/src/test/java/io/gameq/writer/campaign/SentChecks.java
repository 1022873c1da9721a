package io.gameq.writer.campaign;

import io.gameq.servers.MySqlServer;
import io.gameq.writer.campaign.Violation.Kind;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * What holds of rows that were sent, beside what {@link Checker} says of all rows: a commit with
 * other changes took effect whole or not at all, no key of a sent row counted as one that is in
 * use, and whoever has an owner at the end knows each of its rows. Used by one thread.
 */
public final class SentChecks {
  private static final String ROWS = CampaignTables.MAIL + ":";

  private static final int TOLD_SECONDS = 15;

  private final History history;
  private final SentEnd end;

  public SentChecks(History history, SentEnd end) {
    this.history = history;
    this.end = end;
  }

  /**
   * Checks.
   *
   * @param violations those that were found, of all rows; gets those that are found here
   */
  public SentOutcome check(List<Violation> violations) {
    end.keysInUse()
        .forEach(
            row -> violations.add(new Violation(Kind.LOST, "set aside as no new key: " + row)));
    long sent = 0;
    long together = 0;
    long halves = 0;
    for (Attempt attempt : history.attempts.values()) {
      long its = attempt.changes.stream().filter(change -> isSent(attempt, change)).count();
      boolean isTogether = its < attempt.changes.size();
      if (attempt.outcome == Attempt.Outcome.OK) {
        sent += its;
        together += isTogether ? its : 0;
      }
      if (its > 0 && isTogether && isHalf(attempt)) {
        if (isReported(attempt)) {
          halves++;
        } else {
          violations.add(new Violation(Kind.LOST, "half of " + attempt));
        }
      }
    }
    Set<Told> once = new HashSet<>();
    history.told.forEach(told -> once.add(new Told(told.session(), told.row(), 0)));
    return new SentOutcome(
        sent,
        together,
        history.told.size(),
        history.told.size() - once.size(),
        untold(),
        count(violations, Kind.LOST),
        count(violations, Kind.RESURRECTED),
        halves);
  }

  private static long count(List<Violation> violations, Kind kind) {
    return violations.stream()
        .filter(violation -> violation.kind() == kind && violation.what().contains(ROWS))
        .count();
  }

  private static boolean isSent(Attempt attempt, Change change) {
    return change.table().equals(CampaignTables.MAIL)
        && attempt.parts.stream().noneMatch(part -> part.owner().equals(change.owner()));
  }

  /**
   * Of rows that nobody ever writes again, and of mails, which only their owners delete. A row that
   * MySQL refuses stops no other: it is a dead letter.
   */
  private boolean isHalf(Attempt attempt) {
    Set<Boolean> there = new HashSet<>();
    for (Change change : attempt.changes) {
      there.add(
          end.rows().containsKey(change.row())
              || end.setAside().contains(change.row())
              || (isSent(attempt, change) && isDeleted(change)));
    }
    return there.size() > 1;
  }

  private boolean isDeleted(Change mail) {
    return history.attempts.values().stream()
        .filter(attempt -> attempt.outcome != Attempt.Outcome.FAIL)
        .flatMap(attempt -> attempt.changes.stream())
        .anyMatch(change -> !change.put() && change.row().equals(mail.row()));
  }

  private boolean isReported(Attempt attempt) {
    return history.conflicts.stream()
        .anyMatch(
            conflict ->
                attempt.changes.stream().anyMatch(change -> change.row().equals(conflict.row())));
  }

  /**
   * Rows in MySQL of which the session that has their owner knows nothing. To be asked when
   * everything is flushed and the nodes that hold sessions still run.
   */
  List<String> untold() {
    Map<String, Long> epochs = end.epochs();
    Set<Attempt.Part> holders = new HashSet<>(history.holders);
    holders.removeIf(holder -> epochs.getOrDefault(holder.owner(), -1L) != holder.epoch());
    Set<String> known = known(holders);
    List<String> untold = new ArrayList<>();
    end.rows()
        .forEach(
            (row, held) -> {
              Attempt.Part holder =
                  new Attempt.Part(held.owner(), epochs.getOrDefault(held.owner(), -1L));
              if (row.startsWith(ROWS)
                  && holders.contains(holder)
                  && !known.contains(holder + row)) {
                untold.add(row + " by " + held.value() + " of " + holder);
              }
            });
    return untold;
  }

  private Set<String> known(Set<Attempt.Part> holders) {
    Set<String> known = new HashSet<>();
    history.told.forEach(told -> known.add(told.session() + told.row()));
    for (Sighting sighting : history.sightings) {
      for (Attempt.Part holder : holders) {
        if (sighting.owner().equals(holder.owner())
            && sighting.by().equals(History.opening(holder.epoch()))) {
          sighting.rows().keySet().forEach(row -> known.add(holder + row));
        }
      }
    }
    return known;
  }

  /** Where histories are read from, again and again. */
  public interface Histories {
    History read() throws IOException;
  }

  /**
   * Waits until every session that has an owner knows all of its rows: within some ten seconds
   * where a notice was lost.
   */
  public static void awaitTold(Histories histories, MySqlServer mysql)
      throws IOException, SQLException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TOLD_SECONDS);
    while (!new SentChecks(histories.read(), SentEnd.of(mysql)).untold().isEmpty()
        && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(200);
    }
  }
}
