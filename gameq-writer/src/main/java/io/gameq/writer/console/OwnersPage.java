package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.OwnerSearch;
import io.gameq.mysql.tables.OwnerSearch.Found;
import io.gameq.owner.OwnerId;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.console.access.RequestBody;
import io.gameq.writer.console.access.Visitor;
import io.gameq.writer.mysql.ColumnSearch;
import io.gameq.writer.mysql.ColumnSearch.TextColumn;
import io.javalin.http.Context;
import java.util.List;
import java.util.Objects;

/** Finds owners, by their ids or by a text in their rows. Thread-safe. */
final class OwnersPage {
  private static final int MOST_OWNERS = 50;
  private static final int MOST_CHARS = 1_000;

  private final ConsoleServers servers;

  OwnersPage(ConsoleServers servers) {
    this.servers = servers;
  }

  /** An owner that was opened at some time. */
  record Owner(String owner, String node, long openedMillis) {
    static Owner of(Found found) {
      return new Owner(found.owner().id(), found.node(), found.openedAt().toEpochMilli());
    }
  }

  /** The first of them; {@code more} when there are others. */
  record OwnerList(List<Owner> owners, boolean more) {}

  /** By which columns rows are found. */
  record Columns(List<TextColumn> columns) {}

  /** Owners of rows that have a text; {@code more} when there may be others. */
  record Having(List<String> owners, boolean more) {}

  void addTo(GuardedRoutes routes) {
    routes.look("owners", this::search);
    routes.look("columns", context -> new Columns(new ColumnSearch(servers.mysql()).columns()));
    routes.values("owners-having", this::having);
  }

  /** Whoever finds a text has seen it: it is in the audit log, without the text. */
  private Having having(RequestBody body, Visitor visitor) {
    String table = body.text("table", MOST_CHARS);
    String column = body.text("column", MOST_CHARS);
    String text = body.text("text", MOST_CHARS);
    boolean isBeginning = body.has("beginning");
    AuditTable.add(
        servers.mysql(),
        visitor.actor(),
        "search values",
        "%s.%s".formatted(table, column),
        isBeginning ? "beginning" : "whole");
    return servers.list(
        () -> {
          ColumnSearch.Owners found =
              new ColumnSearch(servers.mysql())
                  .owners(table, column, text, isBeginning, MOST_OWNERS);
          return new Having(
              found.owners().stream().map(OwnerId::id).sorted(OwnerSearch.BY_NUMBERS).toList(),
              !found.isAll());
        });
  }

  private OwnerList search(Context context) {
    String beginning = Objects.requireNonNullElse(context.queryParam("q"), "").strip();
    List<Owner> owners =
        OwnerSearch.beginningWith(servers.mysql(), beginning, MOST_OWNERS + 1).stream()
            .map(Owner::of)
            .toList();
    return new OwnerList(
        owners.subList(0, Math.min(MOST_OWNERS, owners.size())), owners.size() > MOST_OWNERS);
  }
}
