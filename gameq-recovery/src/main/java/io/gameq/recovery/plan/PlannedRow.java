package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import org.jspecify.annotations.Nullable;

/**
 * The newest change of a row, and what became of it.
 *
 * @param change what the WAL has
 * @param present what is there now
 */
public record PlannedRow(WalRow change, Present present, Judgement judgement) {

  /**
   * What MySQL and Redis hold of the row now.
   *
   * @param mysqlVersion null for none
   * @param redisVersion the newest there, null for none
   * @param contents null unless the plan is asked for them
   */
  public record Present(
      @Nullable Long mysqlVersion, @Nullable Long redisVersion, @Nullable RowContents contents) {
    public @Nullable String mysqlVersionText() {
      return text(mysqlVersion);
    }

    public @Nullable String redisVersionText() {
      return text(redisVersion);
    }

    private static @Nullable String text(@Nullable Long version) {
      return version == null ? null : Long.toUnsignedString(version);
    }
  }

  public OwnerId owner() {
    return change.owner();
  }

  public Status status() {
    return judgement.status();
  }
}
