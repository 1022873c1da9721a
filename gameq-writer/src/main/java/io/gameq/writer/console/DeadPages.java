package io.gameq.writer.console;

import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.letters.AuditedLetters.EditOutcome;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.ChangedMeanwhile;
import io.gameq.writer.letters.AuditedLetters.EditOutcome.NotEditable;
import io.gameq.writer.letters.ChosenLetters;
import io.gameq.writer.letters.ChosenLetters.LetterFilter;
import io.gameq.writer.letters.ChosenLetters.LetterPage;
import io.gameq.writer.letters.ChosenLetters.ListedLetter;
import io.gameq.writer.letters.LetterDetail;
import io.gameq.writer.letters.RetryText;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.terminal.Moment;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/**
 * Dead letters: a list, one in full, and what can be done with them. Thread-safe; see {@link
 * AuditedLetters} for what is in the audit log.
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
   * @param total how many there are in all, or at how many it looked, see {@link
   *     ChosenLetters#total}
   * @param next goes on where this page ends; 0 when it was the last
   */
  record LetterList(List<Map<String, Object>> letters, String total, long next) {}

  /** One in full; {@code version} as text. */
  record Letter(
      Map<String, Object> letter,
      @Nullable String op,
      List<LetterDetail.ColumnDetail> columns,
      String there,
      @Nullable String undecodable,
      boolean hasValues,
      String revision) {
    static Letter of(LetterDetail detail) {
      return new Letter(
          detail.letter().values(),
          detail.op(),
          detail.columns(),
          detail.there(),
          detail.undecodable(),
          detail.hasValues(),
          detail.revision());
    }
  }

  /**
   * What became of a letter.
   *
   * @param isGone whether there is nothing more to do about it
   */
  record Done(long id, String name, boolean isGone, String became, String why) {}

  /** What became of each. */
  record DoneList(List<Done> letters) {}

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
    LetterFilter filter = filter(context);
    return servers.list(
        () -> {
          AuditedLetters letters = servers.audited(Visitor.NOBODY);
          ChosenLetters chosen = letters.choose(filter);
          LetterPage page = letters.page(chosen, after, LETTERS);
          return new LetterList(
              page.letters().stream().map(ListedLetter::values).toList(),
              chosen.total(page.looked()),
              page.next());
        });
  }

  private static LetterFilter filter(Context context) {
    String owner = param(context, "owner");
    String state = param(context, "state");
    return new LetterFilter(
        new DeadLetterFilter(
            List.of(),
            owner == null ? null : OwnerId.of(owner),
            param(context, "table"),
            number(param(context, "code")),
            param(context, "error"),
            moment(param(context, "since")),
            null),
        state == null ? null : state(state));
  }

  private static State state(String name) {
    try {
      return State.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new BadRequestResponse("a state is waiting, superseded or unknown");
    }
  }

  private static @Nullable Integer number(@Nullable String text) {
    try {
      return text == null ? null : Integer.valueOf(text);
    } catch (NumberFormatException e) {
      throw new BadRequestResponse("an error code is a number");
    }
  }

  private static @Nullable Instant moment(@Nullable String text) {
    try {
      return text == null ? null : new Moment().convert(text);
    } catch (TypeConversionException e) {
      throw new BadRequestResponse(String.valueOf(e.getMessage()));
    }
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

  private static Letter letter(@Nullable LetterDetail detail) {
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
    EditOutcome outcome =
        servers.letters(
            visitor,
            letters -> letters.edit(id, body.text("revision", MOST_REVISION_CHARS), columns));
    if (outcome instanceof NotEditable of) {
      throw new BadRequestResponse(of.reason());
    }
    if (outcome instanceof ChangedMeanwhile) {
      throw new ConflictResponse(
          "the letter changed since it was shown, and was left alone: look at it again");
    }
    return values(body, visitor); // whoever edits has seen them
  }

  private DoneList retry(RequestBody body, Visitor visitor) {
    return each(
        body,
        visitor,
        (letters, chosen, done) ->
            letters.retry(
                chosen,
                false,
                (letter, outcome) ->
                    done.add(
                        new Done(
                            letter.id(),
                            letter.toString(),
                            RetryText.isDone(outcome),
                            RetryText.kind(outcome),
                            RetryText.detail(outcome)))));
  }

  private DoneList discard(RequestBody body, Visitor visitor) {
    return each(
        body,
        visitor,
        (letters, chosen, done) ->
            letters.discard(
                chosen,
                (letter, discarded) ->
                    done.add(
                        new Done(
                            letter.id(),
                            letter.toString(),
                            discarded,
                            discarded ? "discarded" : "kept",
                            discarded ? "" : "it changed meanwhile, or is gone"))));
  }

  private interface ForEach {
    void of(AuditedLetters letters, ChosenLetters chosen, List<Done> done);
  }

  private DoneList each(RequestBody body, Visitor visitor, ForEach action) {
    LetterFilter filter = new LetterFilter(DeadLetterFilter.ofIds(body.ids("ids", MOST_IDS)), null);
    return servers.letters(
        visitor,
        letters -> {
          List<Done> done = new ArrayList<>();
          action.of(letters, letters.choose(filter), done);
          return new DoneList(done);
        });
  }
}
