package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalFolder.Count;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.wal.FileScan.WalDamage;
import io.gameq.wal.WalRecord;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
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
  private static final class WalCounts {
    long changes;
    long firstSequence;
    long lastSequence;
    final Set<Long> owners = new HashSet<>();
    final Set<Long> sessions = new HashSet<>();
  }

  @Override
  public Integer call() {
    wanted = owners();
    boolean damaged = false;
    for (WalFolder folder : openWals().folders()) {
      WalCounts counts = new WalCounts();
      folder.read(entry -> count(entry, counts));
      if (listed) { // which commits had failed is known by now
        folder.read(entry -> list(folder, entry));
      }
      if (json) {
        out().println(asJson(folder, counts));
      } else {
        print(out(), folder, counts);
      }
      damaged |= !folder.report().isWhole();
    }
    return damaged ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  private void count(WalRecord.Entry entry, WalCounts counts) {
    counts.firstSequence = counts.firstSequence == 0 ? entry.place() : counts.firstSequence;
    counts.lastSequence = entry.place();
    for (WalRecord.Part part : entry.record().parts()) {
      int rows = wanted(part).size();
      if (rows > 0) {
        counts.changes += rows;
        String base = OwnerId.baseOf(part.owner());
        counts.owners.add(Plan.idOf(base));
        if (base.equals(part.owner())) { // inboxes have no session
          counts.sessions.add(Plan.idOf(part.session()));
        }
      }
    }
  }

  private List<EncodedRow> wanted(WalRecord.Part part) {
    return wanted.isEmpty() || wanted.contains(OwnerId.baseOf(part.owner()))
        ? part.rows().stream().filter(this::isWanted).toList()
        : List.of();
  }

  private boolean isWanted(EncodedRow row) {
    Instant time = Shown.time(WalRow.version(row.image()));
    return (table == null || row.key().startsWith(PercentEncoding.percent(table) + ":"))
        && (since == null || !time.isBefore(since))
        && (until == null || time.isBefore(until));
  }

  private void list(WalFolder folder, WalRecord.Entry entry) {
    String kind = folder.isFailed(entry.sequence()) ? "failed" : "committed";
    if (entry.record() instanceof WalRecord.Adopted) {
      kind = "adopted";
    }
    for (WalRecord.Part part : entry.record().parts()) {
      OwnerId owner = OwnerId.ofEncoded(part.owner());
      for (EncodedRow row : wanted(part)) {
        long version = WalRow.version(row.image());
        if (json) {
          Map<String, @Nullable Object> line = new LinkedHashMap<>();
          line.put("sequence", entry.sequence());
          line.put("kind", kind);
          line.put("op", op(row));
          line.put("owner", owner.base().encoded());
          line.put("key", row.key());
          RowJson.putCommit(line, owner, part.session(), version);
          line.put("bytes", row.image().length);
          out().println(RowJson.text(line));
        } else {
          out()
              .println(
                  "%s %s %s %s %s%s, version %s"
                      .formatted(
                          entry.sequence(),
                          kind,
                          op(row),
                          Shown.text(row.key()),
                          Shown.whose(owner),
                          owner.isInbox() ? "" : ", session " + part.session(),
                          Shown.version(version)));
        }
      }
    }
  }

  private static String op(EncodedRow row) {
    try {
      return Shown.lower(row.op());
    } catch (GameQueueException e) {
      return "damaged";
    }
  }

  private void print(PrintWriter out, WalFolder folder, WalCounts counts) {
    boolean isFiltered = !wanted.isEmpty() || table != null || since != null || until != null;
    WalRecord.Header header = folder.report().header();
    out.println(
        folder.directory()
            + ": "
            + (header == null
                ? "no header"
                : "node %s, namespace %s, %s slots, started %s UTC"
                    .formatted(
                        header.node(),
                        header.namespace(),
                        header.slots(),
                        Shown.utc(Instant.ofEpochMilli(header.startMillis())))));
    out.println(
        "  %s, sequences %s to %s: %s"
            .formatted(
                Shown.count(folder.count(Count.RECORDS), "record"),
                counts.firstSequence,
                counts.lastSequence,
                Plan.contents(folder)));
    out.println(
        "  %s%s, of %s in %s"
            .formatted(
                Shown.count(counts.changes, "row change"),
                isFiltered ? " that you asked for" : ", adopted ones included",
                Shown.count(counts.owners.size(), "owner"),
                Shown.count(counts.sessions.size(), "session")));
    folder.report().damage().forEach(one -> out.println("  " + Plan.damaged(folder, one)));
  }

  private static String asJson(WalFolder folder, WalCounts counts) {
    Map<String, @Nullable Object> line = new LinkedHashMap<>();
    line.put("directory", folder.directory().toString());
    line.put("wal", folder.id());
    line.put("node", folder.node());
    line.put("records", folder.count(Count.RECORDS));
    line.put("firstSequence", counts.firstSequence);
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
    line.put("wantedOwners", counts.owners.size());
    line.put("wantedSessions", counts.sessions.size());
    line.put("damage", folder.report().damage().stream().map(WalDamage::toString).toList());
    line.put("missing", folder.report().missing());
    line.put("whole", folder.report().isWhole());
    return RowJson.text(line);
  }
}
