package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalFolder.Count;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalDamage;
import io.gameq.wal.WalRecord;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code inspect}: what WALs hold, and what of them is damaged. */
@Command(
    name = "inspect",
    description = "Says what WALs hold and what is damaged, without any server. Changes nothing.")
final class InspectCommand extends WalCommand {

  @Option(names = "--table", paramLabel = "TABLE", description = "Only changes of this table.")
  private @Nullable String table;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "Only changes from then on, in UTC: 2026-11-21T13:00:00Z.")
  private @Nullable Instant since;

  @Option(names = "--until", paramLabel = "TIME", description = "Only changes before then, in UTC.")
  private @Nullable Instant until;

  @Option(names = "--rows", description = "List the changes, oldest first in each WAL.")
  private boolean listed;

  @Option(
      names = "--json",
      description = "One JSON object a line for each WAL, and with --rows for each change.")
  private boolean json;

  private Set<String> wanted = Set.of();

  /** What passed the filters. */
  private static final class Counts {
    long changes;
    long firstSequence = -1;
    long lastSequence;
    final Set<Long> ofOwners = new HashSet<>(); // by hash: names of millions would not fit
    final Set<Long> sessions = new HashSet<>();

    void count(WalRecord.Part part, long rows) {
      if (rows > 0) {
        changes += rows;
        String base = OwnerId.baseOf(part.owner());
        ofOwners.add(Plan.idOf(base));
        if (base.equals(part.owner())) {
          sessions.add(Plan.idOf(part.session()));
        }
      }
    }
  }

  @Override
  public Integer call() {
    PrintWriter out = out();
    wanted = owners();
    boolean damaged = false;
    for (WalFolder folder : openWals().folders()) {
      Counts counts = new Counts();
      folder.read(
          entry -> {
            counts.firstSequence = counts.firstSequence < 0 ? entry.place() : counts.firstSequence;
            counts.lastSequence = entry.place();
            for (WalRecord.Part part : entry.record().parts()) {
              counts.count(part, part.rows().stream().filter(row -> isWanted(part, row)).count());
            }
          });
      if (listed) {
        folder.read(entry -> list(out, folder, entry));
      }
      if (json) {
        out.println(asJson(folder, counts));
      } else {
        print(out, folder, counts);
      }
      damaged |= !folder.report().isWhole();
    }
    return damaged ? RecoveryMain.FOUND_SOMETHING : RecoveryMain.CLEAN;
  }

  private boolean isWanted(WalRecord.Part part, EncodedRow row) {
    Instant time = Shown.time(WalRow.version(row.image()));
    return (wanted.isEmpty() || wanted.contains(OwnerId.baseOf(part.owner())))
        && (table == null || row.key().startsWith(PercentEncoding.percent(table) + ":"))
        && (since == null || !time.isBefore(since))
        && (until == null || time.isBefore(until));
  }

  private void list(PrintWriter out, WalFolder folder, WalReader.Entry entry) {
    String kind =
        entry.record() instanceof WalRecord.Adopted
            ? "adopted"
            : folder.isFailed(entry.sequence()) ? "failed" : "committed";
    for (WalRecord.Part part : entry.record().parts()) {
      for (EncodedRow row : part.rows()) {
        if (isWanted(part, row)) {
          out.println(json ? asJson(entry, kind, part, row) : asText(entry, kind, part, row));
        }
      }
    }
  }

  private static String op(EncodedRow row) {
    try {
      return row.op().name().toLowerCase(Locale.ROOT);
    } catch (GameQueueException e) {
      return "damaged";
    }
  }

  private static String asText(
      WalReader.Entry entry, String kind, WalRecord.Part part, EncodedRow row) {
    OwnerId owner = OwnerId.ofEncoded(part.owner());
    return "%s %s %s %s %s%s, version %s"
        .formatted(
            entry.sequence(),
            kind,
            op(row),
            Shown.text(row.key()),
            Shown.whose(owner),
            owner.isInbox() ? "" : ", session " + part.session(),
            Shown.version(WalRow.version(row.image())));
  }

  private static String asJson(
      WalReader.Entry entry, String kind, WalRecord.Part part, EncodedRow row) {
    OwnerId owner = OwnerId.ofEncoded(part.owner());
    Map<String, @Nullable Object> line = new LinkedHashMap<>();
    line.put("sequence", entry.sequence());
    line.put("kind", kind);
    line.put("op", op(row));
    line.put("owner", owner.base().encoded());
    line.put("key", row.key());
    RowJson.putCommit(line, owner, part.session(), WalRow.version(row.image()));
    line.put("bytes", row.image().length);
    return RowJson.text(line);
  }

  private void print(PrintWriter out, WalFolder folder, Counts counts) {
    out.println(folder.directory() + ": " + head(folder));
    out.println(
        "  %s, sequences %s to %s: %s"
            .formatted(
                Shown.count(folder.count(Count.RECORDS), "record"),
                Math.max(0, counts.firstSequence),
                counts.lastSequence,
                Plan.contents(folder)));
    out.println(
        "  %s%s, of %s in %s"
            .formatted(
                Shown.count(counts.changes, "row change"),
                isFiltered() ? " that you asked for" : ", adopted ones included",
                Shown.count(counts.ofOwners.size(), "owner"),
                Shown.count(counts.sessions.size(), "session")));
    folder.report().damage().forEach(damage -> out.println("  " + Plan.damaged(folder, damage)));
  }

  private boolean isFiltered() {
    return !wanted.isEmpty() || table != null || since != null || until != null;
  }

  private static String head(WalFolder folder) {
    try {
      WalRecord.Header header = folder.header();
      return "node %s, namespace %s, %s slots, started %s UTC"
          .formatted(
              header.node(),
              header.namespace(),
              header.slots(),
              Shown.utc(Instant.ofEpochMilli(header.startMillis())));
    } catch (GameQueueException e) {
      return "no header";
    }
  }

  private static String asJson(WalFolder folder, Counts counts) {
    Map<String, @Nullable Object> line = new LinkedHashMap<>();
    line.put("directory", folder.directory().toString());
    line.put("wal", folder.id());
    line.put("node", folder.node());
    line.put("records", folder.count(Count.RECORDS));
    line.put("firstSequence", Math.max(0, counts.firstSequence));
    line.put("lastSequence", counts.lastSequence);
    line.put("commits", folder.count(Count.COMMITS));
    line.put("rowChanges", folder.count(Count.CHANGES));
    line.put("messageChanges", folder.count(Count.MESSAGES));
    line.put("failed", folder.count(Count.FAILED));
    line.put("adopted", folder.count(Count.ADOPTED));
    line.put("carried", folder.count(Count.CARRIED));
    if (folder.oldestVersion() >= 0) {
      line.put("oldest", Shown.time(folder.oldestVersion()).toString());
      line.put("newest", Shown.time(folder.newestVersion()).toString());
    }
    line.put("wantedChanges", counts.changes);
    line.put("wantedOwners", counts.ofOwners.size());
    line.put("wantedSessions", counts.sessions.size());
    line.put("damage", folder.report().damage().stream().map(WalDamage::toString).toList());
    line.put("missing", folder.report().missing());
    line.put("whole", folder.report().isWhole());
    return RowJson.text(line);
  }
}
