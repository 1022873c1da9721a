package io.gameq.wal;

/**
 * One thing that is wrong with a WAL; immutable.
 *
 * @param file its name within the WAL directory
 * @param offset where the damage begins in the file, in bytes
 * @param bytes how long it is; 0 when nothing is there
 * @param firstMissing sequence of the first record that is missing because of it
 * @param lastMissing sequence of the last one; below {@code firstMissing} when none is known to be
 *     missing
 * @param detail for people
 */
public record WalDamage(
    Kind kind,
    String file,
    long offset,
    long bytes,
    long firstMissing,
    long lastMissing,
    String detail) {

  /** What happened, as far as bytes tell. */
  public enum Kind {
    /**
     * The newest record was not finished: the process or the host died. Where no record is said to
     * be missing, it was never acknowledged.
     */
    TORN_TAIL,
    /** A record whose bytes changed. */
    BAD_CHECKSUM,
    /** Bytes between or at the head of records that no record explains. */
    DAMAGED_HEADER,
    /** A stretch of zeros where records were. */
    ZEROED_PAGE,
    /** A file that ends before its end. */
    TRUNCATED_FILE,
    /** Sequences are missing between two files, or a file that every WAL has. */
    MISSING_FILE,
    /** A file or records that do not belong to this WAL; they were not handed over. */
    FOREIGN_FILE,
    /** An intact record that this version cannot decode. */
    UNREADABLE_RECORD,
    /** The file system fails to read the file. */
    UNREADABLE_FILE,
    /** A record again, or records in another order than they were written in. */
    OUT_OF_SEQUENCE
  }

  /** How many records are known to be missing because of it. */
  public long missing() {
    return Math.max(0, lastMissing - firstMissing + 1);
  }

  @Override
  public String toString() {
    String lost =
        missing() == 0
            ? ""
            : missing() == 1
                ? ", record %s is missing".formatted(firstMissing)
                : ", records %s to %s are missing".formatted(firstMissing, lastMissing);
    return "%s in %s at %s (%s bytes): %s%s".formatted(kind, file, offset, bytes, detail, lost);
  }
}
