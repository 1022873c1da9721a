package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalDamage;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One WAL: the directory of one process start of a node, with what was learned by reading it once.
 * Not thread-safe.
 */
public final class WalFolder {
  private final Path directory;
  private final Map<LayoutName, String> layouts = new LinkedHashMap<>();
  private final Set<Long> failed = new HashSet<>();
  private WalRecord.@Nullable Header header;
  private WalReport report = new WalReport(null, 0, 0, 0, false, List.of());
  private boolean known;
  private boolean holdsRecords;
  private long records;
  private long commits;
  private long changes;
  private long messages;
  private long adopted;
  private long carried;
  private long oldestVersion = -1;
  private long newestVersion;

  /** Names a column list. */
  public record LayoutName(String table, long fingerprint) {}

  public WalFolder(Path directory) {
    this.directory = directory;
  }

  /**
   * Hands every readable record to {@code sink}, in order, whatever is damaged. The first time it
   * also learns what the other methods tell.
   *
   * @throws GameQueueException when this is no WAL
   */
  public void read(Consumer<WalReader.Entry> sink) {
    if (known) {
      WalReader.read(directory, sink);
      return;
    }
    report =
        WalReader.read(
            directory,
            entry -> {
              learn(entry);
              sink.accept(entry);
            });
    known = true;
  }

  /** Reads on to the first header, unless it is known. */
  void readHeader() {
    if (header != null || !WalDirectory.hasFiles(directory)) {
      return;
    }
    try {
      WalReport report =
          WalReader.read(
              directory,
              entry -> {
                holdsRecords = true;
                if (entry.record() instanceof WalRecord.Header found) {
                  header = found;
                  throw new Enough();
                }
              });
      holdsRecords |= !report.isWhole();
    } catch (Enough e) {
      // found
    }
  }

  private static final class Enough extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Enough() {
      super("the header was found", null, false, false);
    }
  }

  private void learn(WalReader.Entry entry) {
    records++;
    WalRecord record = entry.record();
    if (record instanceof WalRecord.Header found) {
      header = found;
    } else if (record instanceof WalRecord.Layout layout) {
      layouts.put(new LayoutName(layout.table(), layout.fingerprint()), layout.columns());
    } else if (record instanceof WalRecord.Failed mark) {
      failed.add(mark.sequence());
    } else if (entry.isCarried()) {
      record.parts().forEach(part -> carried += learnVersions(part));
    } else if (record instanceof WalRecord.Committed committed) {
      commits++;
      committed.messages().forEach(of -> messages += of.changes().size());
      committed.parts().forEach(part -> changes += learnVersions(part));
    } else if (record instanceof WalRecord.Adopted of) {
      adopted += learnVersions(of.part());
    }
  }

  private int learnVersions(WalRecord.Part part) {
    for (EncodedRow row : part.rows()) {
      long version = WalRow.version(row.image());
      newestVersion = Math.max(newestVersion, version);
      oldestVersion = oldestVersion < 0 ? version : Math.min(oldestVersion, version);
    }
    return part.rows().size();
  }

  public Path directory() {
    return directory;
  }

  /**
   * The header.
   *
   * @throws GameQueueException when no header could be read
   */
  public WalRecord.Header header() {
    if (header == null) {
      throw noHeader();
    }
    return header;
  }

  /** Says that no header could be read. */
  public GameQueueException noHeader() {
    return new GameQueueException(
        directory + " has no readable header: which namespace it belongs to is not known");
  }

  /** Whether nothing was ever written to it, as when its node died while it made it. */
  public boolean isEmpty() {
    return header == null && !holdsRecords;
  }

  /** Whether its header can be read, and is of this database. */
  boolean isOf(String namespace, int slots, String database) {
    return header != null && header.isOf(namespace, slots, database);
  }

  /** The node's name, or that it is not known. */
  public String node() {
    return header == null ? "(unknown)" : header.node();
  }

  /** The name of this WAL. */
  public String id() {
    return header == null ? String.valueOf(directory.getFileName()) : header.walId();
  }

  /** 8 hex digits that name the process. */
  public String process() {
    return NodeSigns.processOfWal(id());
  }

  /** What is missing or damaged; also what harms nothing. */
  public List<WalDamage> damage() {
    return report.damage();
  }

  /** Whether no record is missing, but for one that was not finished when its node died. */
  public boolean isWhole() {
    return report.isWhole();
  }

  /** How many records are known to be missing. */
  public long missing() {
    return report.missing();
  }

  /** Whether the commit with this sequence was marked failed; meant once all was read. */
  public boolean isFailed(long sequence) {
    return failed.contains(sequence);
  }

  public int failed() {
    return failed.size();
  }

  public long records() {
    return records;
  }

  public long commits() {
    return commits;
  }

  /** Row changes of commits. */
  public long changes() {
    return changes;
  }

  /** Changes of messages: publishes, acknowledgements and the like. */
  public long messages() {
    return messages;
  }

  /** Rows of adopted records. */
  public long adopted() {
    return adopted;
  }

  /** Rows that were carried forward from files that are deleted, or about to be. */
  public long carried() {
    return carried;
  }

  /** The lowest version, -1 when there is no row. */
  public long oldestVersion() {
    return oldestVersion;
  }

  public long newestVersion() {
    return newestVersion;
  }

  /** Column lists that its rows were written with. */
  public Map<LayoutName, String> layouts() {
    return layouts;
  }
}
