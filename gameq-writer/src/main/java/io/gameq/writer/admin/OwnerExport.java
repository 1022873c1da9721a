package io.gameq.writer.admin;

import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.LookupScript;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnType;
import io.gameq.term.Term;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import io.gameq.writer.admin.Messages.MessageView;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.StoredRowDecoder;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import io.gameq.writer.redis.OwnerMessages;
import io.gameq.writer.redis.OwnerMessages.OwnerMessage;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.StaleRows;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything that gameq and its tables hold of an owner, with values of rows and payloads; in the
 * audit log before it is read. Changes nothing. Used by one thread.
 */
public final class OwnerExport {
  /** No row has as much: nothing is put. */
  private static final int MOST_ROW_BYTES = Integer.MAX_VALUE;

  private final CommandServers servers;
  private final MySql mysql;
  private final Actor actor;

  /** With servers that others close. */
  public OwnerExport(CommandServers servers, Actor actor) {
    this.servers = servers;
    this.mysql = servers.mysql();
    this.actor = actor;
  }

  /**
   * Reads all of it, as JSON is to have it.
   *
   * @param messageKeys keys and groups of messages to look for, besides the owner's id
   * @throws io.gameq.LayoutException when a row does not fit its table any more; mend it first
   * @throws io.gameq.GameQueueException when a server is away
   */
  public Map<String, @Nullable Object> of(OwnerId owner, List<String> messageKeys) {
    AuditTable.add(mysql, actor, "export", owner.id(), "with values");
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("owner", owner.id());
    all.put("at", Instant.now().toString());
    List<EncodedRow> waiting =
        servers.redis().ask(of -> LookupScript.unflushed(of, servers.slots().of(owner), owner));
    all.put("rows", rows(owner, waiting)); // Redis first: what it no longer had is in MySQL
    StoredRowDecoder decoder = new StoredRowDecoder(mysql);
    all.put("waiting", waiting.stream().map(row -> row(decoder, row)).toList());
    all.put("stale", stale(owner, decoder));
    all.put("deadLetters", deadLetters(owner, decoder));
    all.put("messages", messages(texts(owner, messageKeys)));
    all.putAll(MySqlOwner.records(mysql, owner));
    all.put("auditEntries", MySqlOwner.auditEntries(mysql, owner));
    all.put("redisKeys", redisKeys(owner));
    return all;
  }

  /** Keys and groups of messages that are an owner's. */
  static List<String> texts(OwnerId owner, List<String> more) {
    return Stream.concat(Stream.of(owner.id()), more.stream()).distinct().toList();
  }

  /** As a read sees them, by table. */
  private Map<String, List<Map<String, @Nullable String>>> rows(
      OwnerId owner, List<EncodedRow> waiting) {
    Catalog catalog = CatalogReader.read(mysql);
    GameRows rows =
        new GameRows(
            catalog,
            new CurrentCatalog(catalog, () -> CatalogReader.read(mysql)),
            new RowCodec(new LayoutTable(mysql), Clock.systemUTC()),
            Clock.systemUTC(),
            MOST_ROW_BYTES);
    List<Table> tables = catalog.ownedBy(owner.kind());
    OwnerView view =
        new OwnerViews(rows, new OwnerReader(mysql))
            .load(owner, null, Term.NOT_KNOWN, 0, tables, OwnerViews.withoutDamaged(waiting));
    Map<String, List<Map<String, @Nullable String>>> found = new LinkedHashMap<>();
    for (Table table : tables) {
      found.put(table.name(), view.rows(table).stream().map(OwnerExport::values).toList());
    }
    return found;
  }

  private static Map<String, @Nullable String> values(RowImage image) {
    Map<String, @Nullable String> values = new LinkedHashMap<>();
    RowColumn.set(image)
        .forEach((name, value) -> values.put(name, value == null ? null : ColumnType.text(value)));
    return values;
  }

  private static Map<String, @Nullable Object> row(StoredRowDecoder decoder, EncodedRow row) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("key", row.key());
    all.put("version", Long.toUnsignedString(WalRow.version(row.image())));
    StoredRowDecoder.DecodeResult reading = decoder.read(row.key(), row.image());
    if (reading instanceof DecodedRow decoded) {
      all.put("op", decoded.image().op());
      all.put("columns", values(decoded.image()));
    } else {
      all.put("undecodable", ((DecodeError) reading).reason());
    }
    return all;
  }

  private List<Map<String, @Nullable Object>> stale(OwnerId owner, StoredRowDecoder decoder) {
    List<Map<String, @Nullable Object>> found = new ArrayList<>();
    StaleRows stale = new StaleRows(servers.redis(), servers.slots());
    for (StaleRows.StaleSession session : stale.sessions(owner)) {
      stale.rows(
          session,
          rows -> {
            for (EncodedRow row : rows) {
              Map<String, @Nullable Object> all = row(decoder, row);
              all.put("session", session.session().text());
              found.add(all);
            }
            return true;
          });
    }
    return found;
  }

  private List<Map<String, @Nullable Object>> deadLetters(OwnerId owner, StoredRowDecoder decoder) {
    List<Map<String, @Nullable Object>> found = new ArrayList<>();
    for (Stored letter : new DeadLetters(mysql).ofOwner(owner, true, Integer.MAX_VALUE)) {
      Refused of = letter.refused();
      Map<String, @Nullable Object> all = row(decoder, new EncodedRow(letter.key(), of.image()));
      all.put("id", letter.id());
      all.put("errorCode", of.errorCode());
      all.put("error", of.errorText());
      all.put("refusedAt", letter.refusedAt().toString());
      found.add(all);
    }
    return found;
  }

  private List<Map<String, @Nullable Object>> messages(List<String> texts) {
    List<Map<String, @Nullable Object>> found = new ArrayList<>();
    for (OwnerMessage of : new OwnerMessages(servers.redis(), servers.slots()).find(texts)) {
      for (MessageView view : MessageView.of(of.message(), true)) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("topic", of.message().id().topic());
        all.putAll(Messages.view(view.state(), 0).json(view));
        found.add(all);
      }
    }
    return found;
  }

  private List<String> redisKeys(OwnerId owner) {
    return servers.redis().ask(of -> RedisOwner.keys(of, servers.slots().of(owner), owner));
  }
}
