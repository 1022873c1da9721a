package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.change.VersionClock;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.script.ReadScript;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads an owner's rows without a session: Redis first, then MySQL. Thread-safe. */
record OwnerReading(NodeRedis redis, OwnerViews views, VersionClock versions, NodeCalls calls) {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerReading.class);

  /** Throws as {@link io.gameq.GameQueue#read(String, String)}. */
  OwnerView read(OwnerId owner, Table table) {
    table.ownerColumnValue(owner); // does the id fit?
    return calls.ofMySql("reading " + owner, isAwaited -> readNow(owner, table), late -> {});
  }

  /** The same without waiting; the future ends on {@code on}. */
  CompletableFuture<OwnerView> start(OwnerId owner, Table table, Executor on) {
    table.ownerColumnValue(owner);
    return calls.startOfMySql(
        "reading " + owner, isAwaited -> readNow(owner, table), late -> {}, on);
  }

  private OwnerView readNow(OwnerId owner, Table table) {
    List<EncodedRow> unflushed =
        redis.control().ask(connection -> ReadScript.call(connection, redis.slot(owner), owner));
    String prefix = PercentEncoding.percent(table.name()) + ":";
    OwnerView view =
        views.load(
            owner,
            null,
            Term.NOT_KNOWN,
            List.of(table),
            new OwnerViews.InRedis(
                unflushed.stream().filter(row -> row.key().startsWith(prefix)).toList(),
                List.of()));
    try {
      versions.observe(view.highestVersion()); // what the game makes of it is newer
    } catch (GameQueueException e) { // its open says so
      LOG.debug("a version of {} is too far ahead: {}", owner, e.getMessage());
    }
    return view;
  }
}
