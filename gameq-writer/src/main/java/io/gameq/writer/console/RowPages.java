package io.gameq.writer.console;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.writer.admin.ActionResult;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.DeadRows.Detail;
import io.gameq.writer.admin.DeadRows.Filter;
import io.gameq.writer.admin.DeadRows.Selection;
import io.gameq.writer.admin.StaleSessions;
import io.gameq.writer.admin.StaleSessions.RowView;
import io.gameq.writer.console.ConsoleRoutes.Access;
import io.gameq.writer.console.HoldPages.HoldView;
import io.gameq.writer.mysql.OwnerSearch;
import io.gameq.writer.mysql.OwnerSearch.ColumnSearch;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.trace.NextStep;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import io.gameq.writer.trace.OwnerPage;
import io.gameq.writer.trace.TraceCommand;
import io.gameq.writer.trace.Tracer;
import io.gameq.writer.trace.Tracer.RowTrace;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.NotFoundResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Owners and rows: where they are and what happens next, dead letters and stale rows, and what can
 * be done with those. Thread-safe; see {@link DeadRows} and {@link StaleSessions} for what is in
 * the audit log.
 */
final class RowPages {
  private static final int OWNERS = 50;
  private static final int LETTERS = 50;
  private static final int SESSIONS = 200;

  /** Of one request: each is a transaction, and a browser waits for the answer. */
  private static final int MOST_IDS = 100;

  private final ConsoleServers servers;
  private final Supplier<Map<String, String>> parked;

  RowPages(ConsoleServers servers, Supplier<Map<String, String>> parked) {
    this.servers = servers;
    this.parked = parked;
  }

  void addTo(ConsoleRoutes routes) {
    routes.add(Access.LOOK, "owners", this::owners);
    routes.add(
        Access.LOOK,
        "columns",
        request -> Map.of("columns", new ColumnSearch(servers.mysql()).columns()));
    routes.add(Access.VALUES, "owners-having", this::ownersHaving);
    routes.add(
        Access.LOOK, "trace", of -> OwnerSummary.of(tracer().owner(OwnerId.of(of.text("owner")))));
    routes.add(Access.LOOK, "trace-row", request -> row(request, false));
    routes.add(Access.VALUES, "trace-row-values", request -> row(request, true));
    routes.add(Access.LOOK, "dead", this::letters);
    routes.add(Access.LOOK, "dead/{id}", request -> letter(request, false));
    routes.add(Access.VALUES, "dead-values", request -> letter(request, true));
    routes.add(Access.ACT, "dead-edit", this::editLetter);
    routes.add(
        Access.ACT,
        "dead-retry",
        request -> each(request, (letters, of, told) -> letters.retry(of, false, told)));
    routes.add(Access.ACT, "dead-discard", request -> each(request, DeadRows::discard));
    routes.add(Access.LOOK, "stale", this::staleSessions);
    routes.add(Access.VALUES, "stale-values", this::staleRows);
    routes.add(Access.ACT, "stale-discard", this::discardStale);
  }

  private Object owners(ConsoleRequest request) {
    String beginning = Objects.requireNonNullElse(request.optionalText("q"), "");
    List<OwnerSearch.OwnerMatch> found =
        OwnerSearch.beginningWith(servers.mysql(), beginning, OWNERS + 1);
    return Map.of("owners", found.stream().limit(OWNERS).toList(), "more", found.size() > OWNERS);
  }

  /** Whoever finds a text has seen it: it is in the audit log, without the text. */
  private Object ownersHaving(ConsoleRequest request) {
    String table = request.text("table");
    String column = request.text("column");
    String text = request.text("text");
    boolean isBeginning = request.has("beginning");
    AuditTable.add(
        servers.mysql(),
        request.actor(),
        "search values",
        "%s.%s".formatted(table, column),
        isBeginning ? "beginning" : "whole");
    ColumnSearch.OwnerMatches found =
        servers.list(
            () ->
                new ColumnSearch(servers.mysql()).owners(table, column, text, isBeginning, OWNERS));
    return Map.of(
        "owners",
        found.owners().stream().map(OwnerId::id).sorted(OwnerSearch.BY_NUMBERS).toList(),
        "more",
        !found.isAll());
  }

  /** What will happen next; {@code isToAct} when somebody has to do something. */
  record NextStepView(boolean isToAct, String sentence) {
    static NextStepView of(NextStep next) {
      return new NextStepView(next.kind().isToAct(), next.sentence());
    }
  }

  /** An owner; each line is a name, empty where the one above goes on, and a text. */
  record OwnerSummary(
      String owner, int slot, List<List<String>> lines, List<HoldView> held, NextStepView next) {
    static OwnerSummary of(OwnerTrace trace) {
      return new OwnerSummary(
          trace.owner().id(),
          trace.slot(),
          OwnerPage.lines(trace, List.of()),
          HoldView.of(trace),
          NextStepView.of(NextStep.of(trace)));
    }
  }

  /** A row, and the owners that have, had or wanted it. */
  private Object row(ConsoleRequest request, boolean withValues) {
    String table = request.text("table");
    String key = request.text("key");
    String owner = request.optionalText("owner");
    if (withValues) {
      AuditTable.add(
          servers.mysql(), request.actor(), "show values", Tracer.rowKey(table, key), "trace");
    }
    List<OwnerId> owners = owner == null ? List.of() : List.of(OwnerId.of(owner));
    RowTrace trace = tracer().row(table, key, owners, List.of());
    return Map.of(
        "row", trace.rowKey(),
        "isManaged", trace.isManaged(),
        "places", trace.places().stream().map(TraceCommand.places(withValues)::json).toList(),
        "owners", trace.owners().stream().map(OwnerSummary::of).toList(),
        "next", NextStepView.of(trace.next()),
        "hasValues", withValues);
  }

  private Tracer tracer() {
    return new Tracer(servers.all(), parked);
  }

  private Object letters(ConsoleRequest request) {
    Filter filter = Filter.of(List.of(), request::optionalText);
    return servers.list(
        () -> {
          Selection chosen = servers.deadRows(request.actor()).choose(filter);
          DeadRows.LetterPage page = chosen.page(request.number("after", 0), LETTERS);
          return Map.of(
              "letters", page.letters(),
              "total", chosen.total(page.looked()),
              "next", page.next());
        });
  }

  private Detail letter(ConsoleRequest request, boolean withValues) {
    long id = request.id();
    Detail detail = servers.letters(request.actor(), letters -> letters.show(id, withValues));
    if (detail == null) {
      throw new NotFoundResponse("there is no such dead letter any more");
    }
    return detail;
  }

  private Object editLetter(ConsoleRequest request) {
    long id = request.id();
    Map<String, @Nullable String> columns = request.texts("columns");
    if (columns.isEmpty()) {
      throw new BadRequestResponse("nothing was changed: no column differs");
    }
    String revision = request.text("revision");
    ActionResult done =
        servers.letters(request.actor(), letters -> letters.edit(id, revision, columns));
    if (done.result() == ActionResult.Resolution.LEFT) {
      throw new BadRequestResponse(done.why());
    }
    if (done.result() == ActionResult.Resolution.GONE) {
      throw new ConflictResponse(
          "the letter changed since it was shown, and was left alone: look at it again");
    }
    return letter(request, true); // whoever edits has seen them
  }

  private interface LetterAction {
    void of(DeadRows letters, Selection chosen, Consumer<ActionResult> told);
  }

  private Object each(ConsoleRequest request, LetterAction action) {
    Filter filter = Filter.ofIds(request.ids(MOST_IDS));
    List<ActionResult> done = new ArrayList<>();
    return servers.letters(
        request.actor(),
        letters -> {
          action.of(letters, letters.choose(filter), done::add);
          return Map.of("letters", done);
        });
  }

  private Object staleSessions(ConsoleRequest request) {
    String after = Objects.requireNonNullElse(request.optionalText("after"), "");
    StaleRows.SessionPage page = servers.list(() -> servers.stale().page(after, SESSIONS));
    return Map.of(
        "sessions", page.sessions().stream().map(StaleSessions.VIEW::json).toList(),
        "count", page.count(),
        "next", page.next());
  }

  /** The first of them, and how many there are. */
  private Object staleRows(ConsoleRequest request) {
    StaleRows.StaleSession session = staleSession(request);
    List<RowView> rows = new ArrayList<>();
    staleSessions(request.actor())
        .show(
            List.of(session),
            true,
            "session " + session.session().text(),
            (of, page) -> {
              rows.addAll(page);
              return false; // the first page
            });
    return Map.of("rows", rows, "count", servers.stale().count(session));
  }

  private Object discardStale(ConsoleRequest request) {
    StaleRows.StaleSession session = staleSession(request);
    int[] discarded = {0};
    staleSessions(request.actor())
        .discard(
            List.of(session),
            session.owner().id(),
            "session " + session.session().text(),
            (of, result) -> {
              if (result.status() == StaleRows.DiscardStatus.OWNER) {
                throw new ConflictResponse(
                    "kept: the session owns now, and its rows will be flushed");
              }
              discarded[0] = result.rows().size();
            });
    return Map.of("rows", discarded[0]);
  }

  private StaleSessions staleSessions(AuditTable.Actor actor) {
    return new StaleSessions(servers.all(), actor);
  }

  private StaleRows.StaleSession staleSession(ConsoleRequest request) {
    OwnerId owner = OwnerId.of(request.text("owner"));
    SessionId session = SessionId.parse(request.text("session"));
    StaleRows.StaleSession found = servers.stale().find(owner, session);
    if (found == null) {
      throw new NotFoundResponse("there are no stale rows of it any more");
    }
    return found;
  }
}
