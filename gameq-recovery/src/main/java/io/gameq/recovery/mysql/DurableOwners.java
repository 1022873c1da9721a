package io.gameq.recovery.mysql;

import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/**
 * The durable sessions in {@code gameq_owner}, as recovery reads and restores them. Thread-safe.
 */
public final class DurableOwners {
  /** Keeps a statement far below max_allowed_packet. */
  private static final int OWNERS_PER_STATEMENT = 1_000;

  private static final String NODE = "gameq-recovery";

  private final Jdbi jdbi;
  private final OwnerTable owners;

  DurableOwners(MySql mysql) {
    this.jdbi = mysql.jdbi();
    this.owners = new OwnerTable(mysql);
  }

  /**
   * The durable sessions of an owner.
   *
   * @param node that of the newest
   * @param openedAt when the newest was raised
   */
  public record Durable(CountingSessions sessions, String node, Instant openedAt) {}

  /** A session that MySQL lost. */
  public record Lost(OwnerId owner, SessionId session, String node) {}

  /** The sessions of each owner that has one. */
  public Map<OwnerId, Durable> current(Collection<OwnerId> owners) {
    Map<OwnerId, Durable> found = new HashMap<>();
    List<OwnerId> all = new ArrayList<>(owners);
    for (int from = 0; from < all.size(); from += OWNERS_PER_STATEMENT) {
      List<String> some =
          all.subList(from, Math.min(all.size(), from + OWNERS_PER_STATEMENT)).stream()
              .map(OwnerId::encoded)
              .toList();
      MySqlErrors.mysql(
          () ->
              jdbi.withHandle(
                  handle -> {
                    handle
                        .createQuery(
                            "SELECT "
                                + OwnerTable.SESSION_COLUMNS
                                + ", node, opened_at FROM gameq_owner WHERE owner IN (<owners>)")
                        .bindList("owners", some)
                        .map(
                            (rs, context) ->
                                Map.entry(
                                    OwnerId.ofEncoded(rs.getString(1)),
                                    new Durable(
                                        OwnerTable.counting(rs),
                                        rs.getString(7),
                                        rs.getObject(8, LocalDateTime.class)
                                            .toInstant(ZoneOffset.UTC))))
                        .forEach(of -> found.put(of.getKey(), of.getValue()));
                    return found;
                  }));
    }
    return found;
  }

  /**
   * Writes sessions that MySQL lost, each unless it holds the same or a newer epoch of the owner by
   * now. May be repeated.
   */
  public void restore(Collection<Lost> sessions) {
    List<Lost> all = new ArrayList<>(sessions);
    for (int from = 0; from < all.size(); from += OWNERS_PER_STATEMENT) {
      List<Lost> some = all.subList(from, Math.min(all.size(), from + OWNERS_PER_STATEMENT));
      MySqlErrors.mysql(
          () ->
              jdbi.inTransaction(
                  handle -> {
                    // The epoch last: assignments run in order, and the others compare with it.
                    PreparedBatch batch =
                        handle.prepareBatch(
                            "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at)"
                                + " VALUES (?, ?, ?, ?, 'open', UTC_TIMESTAMP(3)) ON DUPLICATE KEY"
                                + " UPDATE nonce = IF(VALUES(epoch) > epoch, VALUES(nonce), nonce),"
                                + " node = IF(VALUES(epoch) > epoch, VALUES(node), node),"
                                + " before_epoch = IF(VALUES(epoch) > epoch, NULL, before_epoch),"
                                + " before_nonce = IF(VALUES(epoch) > epoch, NULL, before_nonce),"
                                + " adopted_version = IF(VALUES(epoch) > epoch, 0,"
                                + " adopted_version), state = IF(VALUES(epoch) > epoch, 'open',"
                                + " state), opened_at = IF(VALUES(epoch) > epoch,"
                                + " VALUES(opened_at), opened_at), epoch = GREATEST(epoch,"
                                + " VALUES(epoch))");
                    for (Lost lost : some) {
                      batch
                          .bind(0, lost.owner().encoded())
                          .bind(1, lost.session().epoch())
                          .bind(2, lost.session().nonce())
                          .bind(3, lost.node())
                          .add();
                    }
                    return batch.execute();
                  }));
    }
  }

  /** A new session of recovery's own; the one before it has lost the owner. */
  public SessionId raise(OwnerId owner, String nonce, long atLeast) {
    return owners.raise(owner, nonce, NODE, atLeast);
  }

  /** Sets a session open; false when a newer one was opened meanwhile. */
  public boolean markOpen(OwnerId owner, SessionId session) {
    return owners.markOpen(owner, session);
  }
}
