package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.OwnerGroup.RowHash;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.WalFolder;
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
import java.util.Locale;
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
    private final RowHash hash = new RowHash(1, 2);

    void count(WalRecord.Part part, long rows) {
      if (rows > 0) {
        changes += rows;
        OwnerId owner = OwnerId.ofEncoded(part.owner());
        ofOwners.add(hash.owner(owner.base().encoded()).high());
        if (!owner.isInbox()) {
          sessions.add(hash.row(part.session()).high());
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
      damaged |= !folder.isWhole();
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
    return RowJson.text(
        line -> {
          line.writeNumberField("sequence", entry.sequence());
          line.writeStringField("kind", kind);
          line.writeStringField("op", op(row));
          OwnerId owner = OwnerId.ofEncoded(part.owner());
          line.writeStringField("owner", owner.base().encoded());
          line.writeStringField("key", row.key());
          RowJson.writeCommit(line, owner, part.session(), WalRow.version(row.image()));
          line.writeNumberField("bytes", row.image().length);
        });
  }

  private void print(PrintWriter out, WalFolder folder, Counts counts) {
    out.println(folder.directory() + ": " + head(folder));
    out.println(
        "  %s, sequences %s to %s: %s"
            .formatted(
                Shown.count(folder.records(), "record"),
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
    folder.damage().forEach(damage -> out.println("  " + Plan.damaged(folder, damage)));
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
    return RowJson.text(
        line -> {
          line.writeStringField("directory", folder.directory().toString());
          line.writeStringField("wal", folder.id());
          line.writeStringField("node", folder.node());
          line.writeNumberField("records", folder.records());
          line.writeNumberField("firstSequence", Math.max(0, counts.firstSequence));
          line.writeNumberField("lastSequence", counts.lastSequence);
          line.writeNumberField("commits", folder.commits());
          line.writeNumberField("rowChanges", folder.changes());
          line.writeNumberField("messageChanges", folder.messages());
          line.writeNumberField("failed", folder.failed());
          line.writeNumberField("adopted", folder.adopted());
          line.writeNumberField("carried", folder.carried());
          if (folder.oldestVersion() >= 0) {
            line.writeStringField("oldest", Shown.time(folder.oldestVersion()).toString());
            line.writeStringField("newest", Shown.time(folder.newestVersion()).toString());
          }
          line.writeNumberField("wantedChanges", counts.changes);
          line.writeNumberField("wantedOwners", counts.ofOwners.size());
          line.writeNumberField("wantedSessions", counts.sessions.size());
          line.writeArrayFieldStart("damage");
          for (WalDamage damage : folder.damage()) {
            line.writeString(damage.toString());
          }
          line.writeEndArray();
          line.writeNumberField("missing", folder.missing());
          line.writeBooleanField("whole", folder.isWhole());
        });
  }
}
