package io.gameq.writer.campaign;

import io.gameq.writer.campaign.messages.LineFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Everything that nodes and readers of one case wrote down. Used by one thread. */
public final class History {
  public final Map<String, Attempt> attempts = new LinkedHashMap<>();
  public final List<Sighting> sightings = new ArrayList<>();
  public final List<OpenAttempt> openings = new ArrayList<>();

  /** What nodes and recovery reported as lost, by name. */
  public final Set<ReportedConflict> conflicts = new HashSet<>();

  /** What sessions were told of that others had sent. */
  public final List<Told> told = new ArrayList<>();

  /** Sessions that nodes had when all of them had stopped playing. */
  public final Set<Attempt.Part> holders = new HashSet<>();

  /** Sessions that could not put back all that was lost: newer ones own. */
  public final Set<Attempt.Part> unhealed = new HashSet<>();

  /** When reads may miss what was acknowledged. */
  public final List<Window> windows = new ArrayList<>();

  /** Reads the file of a node; its last line may be cut off where the node was killed. */
  public void readNode(Path file) throws IOException {
    LineFile.read(file).forEach(this::readLine);
  }

  private void readLine(String line) {
    String[] at = line.split("\t", -1);
    long nanos = Long.parseLong(at[1]);
    switch (at[0]) {
      case HistoryFile.INVOKE ->
          attempts.put(at[2], new Attempt(at[2], nanos, parts(at[3]), changes(at[4])));
      case HistoryFile.OK -> attempt(at[2]).end(Attempt.Outcome.OK, nanos);
      case HistoryFile.FAIL -> attempt(at[2]).end(Attempt.Outcome.FAIL, nanos);
      case HistoryFile.UNKNOWN -> attempt(at[2]).end(Attempt.Outcome.UNKNOWN, nanos);
      case HistoryFile.DURABLE -> attempt(at[2]).durable = true;
      case HistoryFile.CONFLICT -> {
        unhealed.add(new Attempt.Part(at[3], Long.parseLong(at[4])));
        for (String row : at[2].split(";", -1)) {
          int equals = row.lastIndexOf('=');
          conflicts.add(
              new ReportedConflict(
                  row.substring(0, equals),
                  Long.parseLong(row.substring(equals + 1)),
                  at[5].equals("certain")));
        }
      }
      case HistoryFile.OPEN -> {
        long until = Long.parseLong(at[2]);
        openings.add(new OpenAttempt(at[3], Long.parseLong(at[4]), until, at[6]));
        for (String table : CampaignTables.NAMES) {
          sightings.add(
              new Sighting(
                  opening(Long.parseLong(at[4])), nanos, until, at[3], table, rows(at[5], table)));
        }
      }
      case HistoryFile.TOLD ->
          told.add(new Told(new Attempt.Part(at[2], Long.parseLong(at[3])), at[4], nanos));
      case HistoryFile.HOLDS -> holders.add(new Attempt.Part(at[2], Long.parseLong(at[3])));
      default -> throw new IllegalStateException("not a line of a history: " + line);
    }
  }

  /** By whom a sighting is that the open of a session returned. */
  static String opening(long epoch) {
    return "open " + epoch;
  }

  private Attempt attempt(String id) {
    Attempt attempt = attempts.get(id);
    if (attempt == null) {
      throw new IllegalStateException("an outcome without its invocation: " + id);
    }
    return attempt;
  }

  private static List<Attempt.Part> parts(String text) {
    List<Attempt.Part> parts = new ArrayList<>();
    for (String part : text.isEmpty() ? new String[0] : text.split(";", -1)) {
      int at = part.indexOf('@');
      parts.add(new Attempt.Part(part.substring(0, at), Long.parseLong(part.substring(at + 1))));
    }
    return parts;
  }

  private static List<Change> changes(String text) {
    List<Change> changes = new ArrayList<>();
    for (String change : text.split(";", -1)) {
      int at = change.indexOf('=');
      int end = change.length() - 1;
      changes.add(
          new Change(
              change.substring(0, at), change.substring(at + 1, end), change.charAt(end) == '+'));
    }
    return changes;
  }

  private static Map<String, String> rows(String text, String table) {
    Map<String, String> rows = new LinkedHashMap<>();
    for (String row : text.split(";", -1)) {
      int at = row.indexOf('=');
      if (at > 0 && Change.table(row).equals(table)) {
        rows.put(row.substring(0, at), row.substring(at + 1));
      }
    }
    return rows;
  }

  public long acknowledgedChanges() {
    return attempts.values().stream()
        .filter(attempt -> attempt.outcome == Attempt.Outcome.OK)
        .mapToLong(attempt -> attempt.changes.size())
        .sum();
  }
}
