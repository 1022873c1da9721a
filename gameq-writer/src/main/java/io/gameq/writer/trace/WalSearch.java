package io.gameq.writer.trace;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Looks for rows in the logs of nodes, also while they are written; reads all of each. What
 * gameq-recovery would do with them it does not tell. Stateless.
 */
public final class WalSearch {
  /** The newest ones of a row: commits that failed may be among them, and do not count. */
  private static final int MOST_VERSIONS = 64;

  private WalSearch() {}

  /**
   * The newest version of a row of one session in one log.
   *
   * @param note in which log, and at which sequence
   */
  public record WalMatch(OwnerId owner, SessionId session, EncodedRow row, String note) {}

  /**
   * What one log holds of an owner.
   *
   * @param walId names it
   * @param complete whether its node ended with everything in MySQL
   * @param changes of rows, those of commits that failed included
   * @param newestVersion 0 when there is none
   */
  public record WalSummary(
      @JsonProperty("wal") String walId,
      boolean complete,
      long changes,
      @JsonSerialize(using = ToStringSerializer.class) long newestVersion) {}

  /**
   * The newest versions of a row, one for each log and session.
   *
   * @param directories logs, or what they are in
   * @throws GameQueueException naming a directory that neither is nor holds one
   */
  public static List<WalMatch> row(List<Path> directories, String rowKey) {
    List<WalMatch> found = new ArrayList<>();
    for (Path directory : WalDirectory.find(directories)) {
      Map<List<String>, NavigableMap<Long, EncodedRow>> versions = new LinkedHashMap<>();
      Set<Long> failed = new HashSet<>();
      WalReport unused =
          WalReader.read(
              directory,
              entry -> {
                if (entry.record() instanceof WalRecord.Failed mark) {
                  failed.add(mark.sequence());
                }
                for (WalRecord.Part part : entry.record().parts()) {
                  List<String> by = List.of(part.owner(), part.session());
                  part.rows().stream()
                      .filter(row -> row.key().equals(rowKey))
                      .forEach(row -> add(versions, by, entry.sequence(), row));
                }
              });
      versions.forEach(
          (by, all) -> {
            all.keySet().removeAll(failed);
            Map.Entry<Long, EncodedRow> newest = all.lastEntry();
            if (newest != null) {
              OwnerId owner = OwnerId.ofEncoded(by.get(0));
              SessionId session = SessionId.parse(by.get(1));
              String note = directory.getFileName() + ", record " + newest.getKey();
              found.add(new WalMatch(owner, session, newest.getValue(), note));
            }
          });
    }
    return found;
  }

  private static void add(
      Map<List<String>, NavigableMap<Long, EncodedRow>> versions,
      List<String> by,
      long sequence,
      EncodedRow row) {
    NavigableMap<Long, EncodedRow> all = versions.computeIfAbsent(by, of -> new TreeMap<>());
    all.put(sequence, row);
    if (all.size() > MOST_VERSIONS) {
      all.remove(all.firstKey());
    }
  }

  /**
   * What each log holds of an owner and sent to it, those without anything left out; as {@link
   * #row}.
   */
  public static List<WalSummary> owner(List<Path> directories, OwnerId owner) {
    List<WalSummary> found = new ArrayList<>();
    for (Path directory : WalDirectory.find(directories)) {
      long[] changesAndNewest = new long[2];
      WalReport report =
          WalReader.read(
              directory,
              entry ->
                  entry.record().parts().stream()
                      .filter(part -> OwnerId.baseOf(part.owner()).equals(owner.encoded()))
                      .flatMap(part -> part.rows().stream())
                      .forEach(
                          row -> {
                            changesAndNewest[0]++;
                            changesAndNewest[1] =
                                Math.max(changesAndNewest[1], WalRow.version(row.image()));
                          }));
      if (changesAndNewest[0] > 0) {
        found.add(
            new WalSummary(
                String.valueOf(directory.getFileName()),
                report.complete(),
                changesAndNewest[0],
                changesAndNewest[1]));
      }
    }
    return found;
  }
}
