package io.gameq.healing;

import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What WALs say that the rows of some owners should be: the newest change of each row, the newest
 * session of each owner. Not thread-safe.
 *
 * <p>A row may stand in several WALs in one version: committed under one session and adopted by the
 * next. The newest of these sessions counts.
 */
final class Fold {
  /** What a row and an owner take in memory besides key and image, rather too much. */
  private static final int BYTES_PER_ROW = 300;

  private static final int BYTES_PER_OWNER = 500;

  /** The same of each row that was committed together with one; of more they take a share. */
  private static final int BYTES_PER_ROW_TOGETHER = 250;

  private static final int MOST_ROWS_TOGETHER = 16;

  /** Of an image: the version, which tells who holds a commit. */
  private static final int VERSION_BYTES = 17;

  private final Map<String, FoldedOwner> owners = new LinkedHashMap<>();
  private final Set<String> wanted;
  private final int part;
  private final int of;
  private final long mostBytes;
  private long bytes;

  /** Whether it held more than it may, and is empty now. */
  boolean isFull;

  /** What WALs say of an owner. */
  static final class FoldedOwner {
    final OwnerId id;

    /** In the order of the WALs. */
    final Map<String, WalRow> rows = new LinkedHashMap<>();

    /** Those that a replay writes, once they are planned. */
    final List<WalRow> toReplay = new ArrayList<>();

    /** Its newest session. */
    SessionId newest;

    /** The number of the WAL that the newest session was found in. */
    int wal;

    FoldedOwner(String owner, SessionId session, int wal) {
      this.id = OwnerId.ofEncoded(owner);
      this.newest = session;
      this.wal = wal;
    }

    private SessionId session(String text, int itsWal) {
      if (newest.text().equals(text)) {
        return newest;
      }
      SessionId session = SessionId.parse(text);
      if (session.isNewerThan(newest)) {
        newest = session;
        wal = itsWal;
      }
      return session;
    }
  }

  /**
   * Of the owners of one part; {@code of} is a power of two.
   *
   * @param wanted encoded ids; empty for all
   * @param mostBytes beyond it nothing is kept, and {@link #isFull} says so
   */
  Fold(Set<String> wanted, int part, int of, long mostBytes) {
    this.wanted = wanted;
    this.part = part;
    this.of = of;
    this.mostBytes = mostBytes;
  }

  /** Takes a record; of a commit that failed the sessions alone. */
  void add(WalRecord.Entry entry, int wal, boolean isFailed) {
    List<WalRecord.Part> all = entry.record().parts();
    if (isFull || all.isEmpty()) {
      return;
    }
    List<WalRecord.Part> versions = all.size() < 2 || isFailed ? List.of() : versions(all);
    for (WalRecord.Part some : all) {
      String base = OwnerId.baseOf(some.owner());
      int hash = base.hashCode() * 0x9E3779B9;
      boolean isWanted =
          (wanted.isEmpty() || wanted.contains(base)) && ((hash >>> 16) & (of - 1)) == part;
      if (isWanted || (all.size() > 1 && base.equals(some.owner()))) { // who commits together
        FoldedOwner owner = owner(some, wal);
        SessionId session = owner.session(some.session(), wal);
        if (isWanted && !isFailed) {
          for (EncodedRow row : some.rows()) {
            long version = WalRow.version(row.image());
            add(
                owner,
                new WalRow(owner.id, session, row, version, wal, entry.sequence(), versions));
          }
        }
      }
    }
    if (bytes > mostBytes) {
      isFull = true;
      owners.clear();
    }
  }

  private FoldedOwner owner(WalRecord.Part some, int wal) {
    return owners.computeIfAbsent(
        some.owner(),
        owner -> {
          bytes += BYTES_PER_OWNER + 4L * owner.length();
          return new FoldedOwner(owner, SessionId.parse(some.session()), wal);
        });
  }

  private void add(FoldedOwner owner, WalRow row) {
    WalRow known = owner.rows.get(row.key());
    int newer = known == null ? 1 : Long.compareUnsigned(row.version(), known.version());
    if (known == null || newer > 0 || (newer == 0 && row.session().isNewerThan(known.session()))) {
      owner.rows.remove(row.key());
      owner.rows.put(row.key(), row);
      bytes += bytes(row) - (known == null ? 0 : bytes(known));
    }
  }

  static long bytes(WalRow row) {
    long together = row.together().stream().mapToInt(part -> part.rows().size()).sum();
    return BYTES_PER_ROW
        + row.key().length()
        + row.image().length
        + BYTES_PER_ROW_TOGETHER * Math.min(together, MOST_ROWS_TOGETHER);
  }

  private static List<WalRecord.Part> versions(List<WalRecord.Part> parts) {
    List<WalRecord.Part> versions = new ArrayList<>();
    for (WalRecord.Part part : parts) {
      List<EncodedRow> rows = new ArrayList<>();
      for (EncodedRow row : part.rows()) {
        int length = Math.min(VERSION_BYTES, row.image().length);
        rows.add(new EncodedRow(row.key(), Arrays.copyOf(row.image(), length)));
      }
      versions.add(new WalRecord.Part(part.owner(), part.session(), rows));
    }
    return versions;
  }

  Collection<FoldedOwner> owners() {
    return owners.values();
  }

  FoldedOwner owner(OwnerId owner) {
    return Objects.requireNonNull(owners.get(owner.encoded()), owner::id);
  }

  FoldedOwner owner(WalRecord.Part part) {
    return Objects.requireNonNull(owners.get(part.owner()), part.owner());
  }
}
