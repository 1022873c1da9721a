package io.gameq.recovery.plan;

import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.owner.OwnerId;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Asks MySQL what it holds of a batch of rows and of their owners. One thread. */
final class MySqlInquiry {
  private final RecoveryDatabase database;

  MySqlInquiry(RecoveryDatabase database) {
    this.database = database;
  }

  /** Of which rows the values are wanted, besides the versions. */
  enum Images {
    NONE,
    OF_MISSING,
    OF_ALL
  }

  /** What MySQL holds of each row, in the same order. */
  List<InMySql> ask(List<AskedRow> rows, Images wanted) {
    Set<RowKey> keys = keys(rows);
    Map<RowKey, Long> versions = database.versions(keys);
    List<AskedRow> missing = rows.stream().filter(row -> !isIn(versions, row)).toList();
    Set<RowKey> missingKeys = keys(missing);
    Set<OwnerId> owners =
        missing.stream().map(row -> row.change().owner()).collect(Collectors.toSet());
    Map<OwnerId, Map<RowKey, Long>> letters = database.deadLetters(missingKeys);
    Map<RowKey, List<Discard>> discards = database.discards(missingKeys);
    Map<OwnerId, Durable> durable = database.owners().current(owners);
    Map<RowKey, RowImage> images =
        switch (wanted) {
          case NONE -> Map.of();
          case OF_MISSING -> database.rows(missingKeys);
          case OF_ALL -> database.rows(keys);
        };
    return rows.stream()
        .map(
            row -> {
              RowKey key = row.key();
              OwnerId owner = row.change().owner();
              return key == null
                  ? new InMySql(null, null, List.of(), durable.get(owner), null)
                  : new InMySql(
                      versions.get(key),
                      letters.getOrDefault(owner.base(), Map.of()).get(key),
                      discards.getOrDefault(key, List.of()),
                      durable.get(owner),
                      images.get(key));
            })
        .toList();
  }

  private static Set<RowKey> keys(List<AskedRow> rows) {
    Set<RowKey> keys = new HashSet<>();
    rows.stream().map(AskedRow::key).filter(Objects::nonNull).forEach(keys::add);
    return keys;
  }

  private static boolean isIn(Map<RowKey, Long> versions, AskedRow row) {
    return row.change().isCoveredBy(row.key() == null ? null : versions.get(row.key()));
  }
}
