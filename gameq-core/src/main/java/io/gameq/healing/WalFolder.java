package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One WAL: the directory of one process start of a node, with what was learned by reading it. Not
 * thread-safe.
 */
public final class WalFolder {
  private final Path directory;
  private final Set<WalRecord.Layout> layouts = new LinkedHashSet<>();
  private final Set<Long> failed = new HashSet<>();
  private final Map<Count, Long> counts = new EnumMap<>(Count.class);
  private WalRecord.@Nullable Header header;
  private WalReport report = new WalReport(null, 0, 0, 0, false, List.of());
  private boolean holdsRecords;
  private long oldestVersion = -1;
  private long newestVersion;

  /** What is counted in a WAL. */
  public enum Count {
    RECORDS,
    COMMITS,
    /** Row changes of commits. */
    CHANGES,
    /** Changes of messages: publishes, acknowledgements and the like. */
    MESSAGES,
    /** Marks of failed commits. */
    FAILED,
    /** Rows of adopted records. */
    ADOPTED,
    /** Rows that were carried forward from files that are deleted, or about to be. */
    CARRIED
  }

  public WalFolder(Path directory) {
    this.directory = directory;
  }

  /**
   * Hands every readable record to {@code sink}, in order, whatever is damaged. Also learns what
   * the other methods tell.
   *
   * @throws GameQueueException when this is no WAL
   */
  public void read(Consumer<WalRecord.Entry> sink) {
    counts.clear();
    report =
        WalReader.read(
            directory,
            entry -> {
              learn(entry);
              sink.accept(entry);
            });
  }

  /** Reads the first file, and all where that has no header; not if the header is known. */
  void readHeader() {
    if (header == null && WalDirectory.hasFiles(directory)) {
      WalReport found = WalReader.read(directory, 1, 1, entry -> {});
      if (found.header() == null) {
        found = WalReader.read(directory, entry -> {});
      }
      header = found.header();
      holdsRecords = found.records() > 0 || !found.isWhole();
    }
  }

  private void learn(WalRecord.Entry entry) {
    add(Count.RECORDS, 1);
    WalRecord record = entry.record();
    if (record instanceof WalRecord.Header found) {
      header = found;
    } else if (record instanceof WalRecord.Layout layout) {
      layouts.add(layout);
    } else if (record instanceof WalRecord.Failed mark) {
      failed.add(mark.sequence());
    } else if (entry.isCarried()) {
      record.parts().forEach(part -> addRows(Count.CARRIED, part));
    } else if (record instanceof WalRecord.Committed committed) {
      add(Count.COMMITS, 1);
      add(Count.MESSAGES, committed.messages().size());
      committed.parts().forEach(part -> addRows(Count.CHANGES, part));
    } else if (record instanceof WalRecord.Adopted of) {
      addRows(Count.ADOPTED, of.part());
    }
  }

  private void add(Count to, long more) {
    counts.merge(to, more, Long::sum);
  }

  private void addRows(Count to, WalRecord.Part part) {
    add(to, part.rows().size());
    for (EncodedRow row : part.rows()) {
      long version = WalRow.version(row.image());
      newestVersion = Math.max(newestVersion, version);
      oldestVersion = oldestVersion < 0 ? version : Math.min(oldestVersion, version);
    }
  }

  /** How many were read the last time. */
  public long count(Count of) {
    return of == Count.FAILED ? failed.size() : counts.getOrDefault(of, 0L);
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
  String process() {
    return NodeSigns.processOfWal(id());
  }

  /** What the last reading found missing or damaged. */
  public WalReport report() {
    return report;
  }

  /** Whether the commit with this sequence was marked failed; meant once all was read. */
  public boolean isFailed(long sequence) {
    return failed.contains(sequence);
  }

  /** The lowest version, -1 when there is no row. */
  public long oldestVersion() {
    return oldestVersion;
  }

  public long newestVersion() {
    return newestVersion;
  }

  /** Column lists that its rows were written with. */
  Set<WalRecord.Layout> layouts() {
    return layouts;
  }

  /** The WALs of one command line, always read in the same order. Not thread-safe. */
  public record WalSet(List<WalFolder> folders) {
    /**
     * The WALs among these directories, and inside of those that are none.
     *
     * @throws GameQueueException naming the first directory that neither is nor holds a WAL
     */
    public static WalSet open(List<Path> arguments) {
      return new WalSet(WalDirectory.find(arguments).stream().map(WalFolder::new).toList());
    }

    /** Hands every readable record of every WAL, with the WAL's number, to {@code sink}. */
    public void read(ObjIntConsumer<WalRecord.Entry> sink) {
      for (int i = 0; i < folders.size(); i++) {
        int wal = i;
        folders.get(i).read(entry -> sink.accept(entry, wal));
      }
    }

    /** Learns the header of each WAL; returns those of them to which something was written. */
    public WalSet notEmpty() {
      folders.forEach(WalFolder::readHeader);
      return new WalSet(folders.stream().filter(folder -> !folder.isEmpty()).toList());
    }

    /** Which column lists rows were written with is asked of every WAL; null when none knows. */
    @Nullable String layout(String table, long fingerprint) {
      return folders.stream()
          .flatMap(folder -> folder.layouts.stream())
          .filter(of -> of.table().equals(table) && of.fingerprint() == fingerprint)
          .map(WalRecord.Layout::columns)
          .findFirst()
          .orElse(null);
    }
  }
}
