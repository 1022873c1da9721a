package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.writer.console.access.GuardedRoutes;
import io.javalin.http.Context;
import java.util.List;

/** What operators did, the newest first. Thread-safe. */
final class AuditPage {
  private static final int ENTRIES = 50;

  private final ConsoleServers servers;

  AuditPage(ConsoleServers servers) {
    this.servers = servers;
  }

  /** One line. */
  record Done(
      String id,
      long atMillis,
      String who,
      String via,
      String action,
      String target,
      String detail) {
    static Done of(Entry entry) {
      return new Done(
          Long.toString(entry.id()),
          entry.at().toEpochMilli(),
          entry.actor().who(),
          entry.actor().via(),
          entry.action(),
          entry.target(),
          entry.detail());
    }
  }

  /**
   * The page.
   *
   * @param next goes on where this page ends; empty when it was the last
   */
  record AuditList(List<Done> entries, String next) {}

  void addTo(GuardedRoutes routes) {
    routes.look("audit", this::audit);
  }

  private AuditList audit(Context context) {
    long before = context.queryParamAsClass("before", Long.class).getOrDefault(Long.MAX_VALUE);
    List<Done> entries =
        AuditTable.newest(servers.mysql(), before, ENTRIES).stream().map(Done::of).toList();
    return new AuditList(
        entries, entries.size() < ENTRIES ? "" : entries.get(entries.size() - 1).id());
  }
}
