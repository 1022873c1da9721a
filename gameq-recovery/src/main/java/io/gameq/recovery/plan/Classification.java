package io.gameq.recovery.plan;

import io.gameq.MySqlException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.plan.MySqlInquiry.Images;
import io.gameq.recovery.plan.PlannedRow.Present;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.recovery.wal.Versions;
import io.gameq.recovery.wal.WalSet;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a batch of rows: asks Redis, then MySQL, judges, and compares if wanted.
 * One thread.
 */
final class Classification {
  private final Lookups lookups;
  private final Planner.Options options;
  private final Function<OwnerId, SessionId> newestSession;
  private final RowCodec codec;
  private final RowJudge judge;
  private final @Nullable RedisInquiry redis;
  private final MySqlInquiry mysql;

  /**
   * A classification of rows of one group of owners.
   *
   * @param newestSession of an owner, in all WALs
   */
  Classification(
      Lookups lookups,
      WalSet wals,
      Planner.Options options,
      HealingWals healing,
      Function<OwnerId, SessionId> newestSession) {
    this.lookups = lookups;
    this.options = options;
    this.newestSession = newestSession;
    this.codec = lookups.codec(wals);
    this.judge = new RowJudge(healing, options.includeLive(), lookups.database().horizon());
    RecoveryRedis open = lookups.redis();
    this.redis = open == null ? null : new RedisInquiry(open);
    this.mysql = new MySqlInquiry(lookups.database());
  }

  /** What became of each row, in the same order. */
  List<PlannedRow> classify(List<WalRow> batch) {
    BatchDecoder decoder = new BatchDecoder(lookups.database(), codec, System.nanoTime());
    List<AskedRow> rows = batch.stream().map(this::asked).toList();
    // Redis first: what it no longer has is in MySQL by the next line.
    List<InRedis> inRedis =
        redis == null
            ? Collections.nCopies(rows.size(), InRedis.NOTHING)
            : redis.ask(rows, options.wantsContents());
    List<InMySql> inMySql = mysql.ask(rows, images());
    List<PlannedRow> planned = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      planned.add(planned(new FoundRow(rows.get(i), inRedis.get(i), inMySql.get(i)), decoder));
    }
    return planned;
  }

  private Images images() {
    if (options.compare()) {
      return Images.OF_ALL;
    }
    return options.contents() ? Images.OF_MISSING : Images.NONE;
  }

  private AskedRow asked(WalRow row) {
    SessionId newest = newestSession.apply(row.owner());
    try {
      RowKey key = lookups.database().catalog().rowKey(row.key());
      key.parts(); // would else fail where it is bound
      return new AskedRow(row, newest, key, "");
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return new AskedRow(row, newest, null, String.valueOf(e.getMessage()));
    }
  }

  private PlannedRow planned(FoundRow row, BatchDecoder decoder) {
    Judgement judgement = judge.judge(row, decoder);
    RowContents contents = options.wantsContents() ? decoder.contents(row) : null;
    if (options.compare() && contents != null) {
      judgement = ContentComparison.difference(row, contents).orElse(judgement);
    }
    long inRedis = Versions.ofText(row.redis().newest());
    return new PlannedRow(
        row.change(),
        new Present(row.mysql().version(), inRedis < 0 ? null : inRedis, contents),
        judgement);
  }
}
