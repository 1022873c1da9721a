package io.gameq.writer.console;

import io.gameq.mysql.tables.OwnerSearch;
import io.gameq.mysql.tables.OwnerSearch.Found;
import io.gameq.writer.console.access.GuardedRoutes;
import io.javalin.http.Context;
import java.util.List;
import java.util.Objects;

/** Finds owners. Thread-safe. */
final class OwnersPage {
  private static final int MOST_OWNERS = 50;

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

  void addTo(GuardedRoutes routes) {
    routes.look("owners", this::search);
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
