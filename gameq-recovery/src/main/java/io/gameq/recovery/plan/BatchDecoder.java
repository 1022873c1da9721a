package io.gameq.recovery.plan;

import io.gameq.MySqlException;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import org.jspecify.annotations.Nullable;

/**
 * Decodes rows of one batch. Stateless.
 *
 * @param readNanos when the batch had been read, by {@link System#nanoTime}
 */
record BatchDecoder(RecoveryDatabase database, RowCodec codec, long readNanos) {
  /** Why the row of the WAL cannot be decoded; empty when it can. */
  String problem(AskedRow row) {
    if (!row.keyProblem().isEmpty()) {
      return row.keyProblem();
    }
    try {
      decode(row, row.change().image());
      return "";
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /** What is to be shown of a row, in each place. */
  RowContents contents(FoundRow row) {
    AskedRow asked = row.asked();
    return new RowContents(
        row.mysql().image(),
        decodedOrNull(asked, row.redis().newest()),
        decodedOrNull(asked, row.change().image()));
  }

  private @Nullable RowImage decodedOrNull(AskedRow row, byte[] image) {
    if (row.key() == null || image.length == 0) {
      return null;
    }
    try {
      return decode(row, image);
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return null;
    }
  }

  private RowImage decode(AskedRow row, byte[] image) {
    return database.decode(codec, row.change().key(), image, readNanos);
  }
}
