package io.gameq.writer;

import io.gameq.Encoding;
import io.gameq.OwnerId;
import io.gameq.mysql.DeadLetterTable.Refused;
import io.gameq.mysql.RowChange;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.mysql.FlushTransaction.OwnerRows;
import io.gameq.writer.mysql.FlushTransaction.Written;
import io.gameq.writer.redis.Claim;
import io.gameq.writer.redis.FinishScripts.Flushed;
import io.gameq.writer.redis.FinishScripts.VersionedKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Leads from claims to what MySQL is asked for, and from its answer back to claims. One thread. */
final class Flushing {
  private final Map<OwnerId, RowDecoder.Decoded> byOwner = new HashMap<>();

  Flushing(List<RowDecoder.Decoded> decoded) {
    decoded.forEach(of -> byOwner.put(of.claim().owner(), of));
  }

  List<OwnerRows> owners(List<Claim> claims) {
    return claims.stream()
        .map(
            claim -> {
              RowDecoder.Decoded of = decoded(claim.owner());
              return new OwnerRows(
                  claim.owner(), claim.session(), claim.attempts(), of.rows(), of.unreadable());
            })
        .toList();
  }

  Claim claim(OwnerRows of) {
    return decoded(of.owner()).claim();
  }

  private RowDecoder.Decoded decoded(OwnerId owner) {
    return Objects.requireNonNull(byOwner.get(owner));
  }

  /** What to acknowledge of an owner: durable is what lies below the oldest row that waits on. */
  Flushed flushed(Written written) {
    RowDecoder.Decoded of = decoded(written.of().owner());
    long highest = 0;
    for (RowChange row : of.rows()) {
      highest = Math.max(highest, row.image().version());
    }
    for (Refused row : written.setAside()) {
      highest = Math.max(highest, row.version());
    }
    for (UnflushedRow row : of.kept()) {
      highest = Math.min(highest, RowDecoder.version(row) - 1);
    }
    return new Flushed(
        of.claim(),
        Math.max(0, highest),
        written.setAside().stream()
            .map(
                row ->
                    new VersionedKey(
                        Encoding.percent(row.table()) + ":" + row.rowKey(), row.version()))
            .toList(),
        of.kept().stream().map(UnflushedRow::key).toList());
  }
}
