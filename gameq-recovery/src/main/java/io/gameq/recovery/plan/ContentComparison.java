package io.gameq.recovery.plan;

import io.gameq.recovery.wal.Versions;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowOp;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Compares the values of a row where WAL, MySQL and Redis hold the same version. Stateless. */
final class ContentComparison {
  private ContentComparison() {}

  /** What differs; empty when nothing does. */
  static Optional<Judgement> difference(FoundRow row, RowContents contents) {
    if (isOtherInMySql(row, contents.wal(), contents.mysql())) {
      return Optional.of(other("MySQL holds this version with other values"));
    }
    byte[] redis = row.redis().newest();
    if (redis.length > 0
        && Versions.ofText(redis) == row.change().version()
        && !Arrays.equals(redis, row.change().image())) {
      return Optional.of(other("Redis holds this version with other values"));
    }
    return Optional.empty();
  }

  private static Judgement other(String reason) {
    return Judgement.of(Status.OTHER_CONTENT, reason);
  }

  private static boolean isOtherInMySql(
      FoundRow row, @Nullable RowImage wal, @Nullable RowImage mysql) {
    Long inMySql = row.mysql().version();
    return wal != null
        && mysql != null
        && inMySql != null
        && inMySql == row.change().version()
        && mysql.version() == row.change().version()
        && wal.op() != RowOp.DELETE
        && !isSame(wal, mysql);
  }

  /** In what the row of the WAL names: a column that its node did not know is what it was. */
  private static boolean isSame(RowImage wal, RowImage mysql) {
    if (wal.named() == null || wal.table().columns().size() != mysql.table().columns().size()) {
      return Arrays.deepEquals(wal.values(), mysql.values());
    }
    for (int i = 0; i < wal.values().length; i++) {
      if (wal.names(i) && !Objects.deepEquals(wal.values()[i], mysql.values()[i])) {
        return false;
      }
    }
    return true;
  }
}
