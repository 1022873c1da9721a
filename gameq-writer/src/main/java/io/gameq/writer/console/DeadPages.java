package io.gameq.writer.console;

import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.DeadRows.Detail;
import io.gameq.writer.admin.DeadRows.Filter;
import io.gameq.writer.admin.DeadRows.Selection;
import io.gameq.writer.admin.Done;
import io.gameq.writer.admin.Done.Result;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters: a list, one in full, and what can be done with them. Thread-safe; see {@link
 * DeadRows} for what is in the audit log.
 */
final class DeadPages {
  private static final int LETTERS = 50;

  /** Of one request: each is a transaction, and a browser waits for the answer. */
  private static final int MOST_IDS = 100;

  private static final int MOST_REVISION_CHARS = 64;

  private final ConsoleServers servers;

  DeadPages(ConsoleServers servers) {
    this.servers = servers;
  }

  /**
   * Some letters.
   *
   * @param total how many there are in all, or at how many it looked, see {@link Selection#total}
   * @param next goes on where this page ends; 0 when it was the last
   */
  record LetterList(List<Map<String, @Nullable Object>> letters, String total, long next) {}

  /** One in full; {@code version} as text. */
  record Letter(
      Map<String, @Nullable Object> letter,
      @Nullable String op,
      List<RowColumn> columns,
      String there,
      @Nullable String undecodable,
      boolean hasValues,
      String revision) {
    static Letter of(Detail detail) {
      return new Letter(
          DeadRows.VIEW.json(detail.letter()),
          detail.op(),
          detail.columns(),
          detail.there(),
          detail.undecodable(),
          detail.hasValues(),
          detail.revision());
    }
  }

  /** What became of a letter; {@code isGone} when there is nothing more to do about it. */
  record DoneLetter(long id, String name, boolean isGone, String became, String why) {
    static DoneLetter of(Done done) {
      return new DoneLetter(
          done.id(), done.name(), done.result() != Result.LEFT, done.became(), done.why());
    }
  }

  /** What became of each. */
  record DoneList(List<DoneLetter> letters) {}

  void addTo(GuardedRoutes routes) {
    routes.look("dead", this::list);
    routes.look("dead/{id}", context -> letter(id(context)));
    routes.values("dead-values", this::values);
    routes.act("dead-edit", this::edit);
    routes.act("dead-retry", this::retry);
    routes.act("dead-discard", this::discard);
  }

  private LetterList list(Context context) {
    long after = context.queryParamAsClass("after", Long.class).getOrDefault(0L);
    Filter filter = Filter.of(List.of(), name -> param(context, name));
    return servers.list(
        () -> {
          Selection chosen = servers.deadRows(Visitor.NOBODY).choose(filter);
          DeadRows.Page page = chosen.page(after, LETTERS);
          return new LetterList(
              page.letters().stream().map(DeadRows.VIEW::json).toList(),
              chosen.total(page.looked()),
              page.next());
        });
  }

  private static @Nullable String param(Context context, String name) {
    String value = context.queryParam(name);
    return value == null || value.isBlank() ? null : value.strip();
  }

  private static long id(Context context) {
    return context.pathParamAsClass("id", Long.class).get();
  }

  private Letter letter(long id) {
    return letter(servers.letters(Visitor.NOBODY, letters -> letters.show(id, false)));
  }

  private Letter values(RequestBody body, Visitor visitor) {
    long id = body.ids("ids", 1).get(0);
    return letter(servers.letters(visitor, letters -> letters.show(id, true)));
  }

  private static Letter letter(@Nullable Detail detail) {
    if (detail == null) {
      throw new NotFoundResponse("there is no such dead letter any more");
    }
    return Letter.of(detail);
  }

  private Letter edit(RequestBody body, Visitor visitor) {
    long id = body.ids("ids", 1).get(0);
    Map<String, @Nullable String> columns = body.texts("columns");
    if (columns.isEmpty()) {
      throw new BadRequestResponse("nothing was changed: no column differs");
    }
    Done done =
        servers.letters(
            visitor,
            letters -> letters.edit(id, body.text("revision", MOST_REVISION_CHARS), columns));
    if (done.result() == Result.LEFT) {
      throw new BadRequestResponse(done.why());
    }
    if (done.result() == Result.GONE) {
      throw new ConflictResponse(
          "the letter changed since it was shown, and was left alone: look at it again");
    }
    return values(body, visitor); // whoever edits has seen them
  }

  private DoneList retry(RequestBody body, Visitor visitor) {
    return each(body, visitor, (letters, chosen, told) -> letters.retry(chosen, false, told));
  }

  private DoneList discard(RequestBody body, Visitor visitor) {
    return each(body, visitor, DeadRows::discard);
  }

  private interface ForEach {
    void of(DeadRows letters, Selection chosen, Consumer<Done> told);
  }

  private DoneList each(RequestBody body, Visitor visitor, ForEach action) {
    Filter filter = Filter.ofIds(body.ids("ids", MOST_IDS));
    return servers.letters(
        visitor,
        letters -> {
          List<DoneLetter> done = new ArrayList<>();
          action.of(letters, letters.choose(filter), of -> done.add(DoneLetter.of(of)));
          return new DoneList(done);
        });
  }
}
