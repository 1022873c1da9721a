package io.gameq.writer.admin;

import com.fasterxml.jackson.annotation.JsonValue;
import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowEdit;
import io.gameq.rows.RowImage;
import io.gameq.rows.types.ColumnType;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.ActionResult.Resolution;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.DeadLetterFilter;
import io.gameq.writer.mysql.DeadLetters.LetterState;
import io.gameq.writer.mysql.DeadLetters.RetryResult;
import io.gameq.writer.mysql.DeadLetters.RetryStatus;
import io.gameq.writer.mysql.StoredRowDecoder.CurrentRow;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeResult;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import io.gameq.writer.terminal.TimeArgument;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of rows, as an operator sees and changes them. Each change, and each look at
 * values, is in the audit log before it is made, one entry however many letters it concerns. Used
 * by one thread; safe beside nodes, writers and other operators.
 *
 * <p>All methods throw {@link io.gameq.MySqlException} when MySQL does not answer; what a consumer
 * was told of is done then, the rest is not.
 */
public final class DeadRows {
  private static final int MOST_ERROR_CHARS = 60;
  private static final int REVISION_BYTES = 8;
  private static final String NOT_EDITED = "not edited";
  private static final String CHANGED = "it changed meanwhile: look at it again";

  /** Dead letters as lists have them. */
  public static final RecordView<LetterView> VIEW =
      new RecordView<LetterView>()
          .field("ID", "id", LetterView::id)
          .field("TABLE", "table", of -> of.row().table())
          .field("KEY", "key", of -> of.row().rowKey())
          .field("OWNER", "owner", of -> of.row().owner().id())
          .field("VERSION", "version", of -> Long.toUnsignedString(of.row().version()))
          .field("STATE", "state", LetterView::state)
          .field("TRIES", "attempts", of -> of.row().attempts())
          .field("REFUSED (UTC)", "refusedAt", of -> of.stored.refusedAt())
          .field("CODE", "errorCode", of -> of.row().errorCode())
          .field(
              "ERROR",
              "error",
              of -> of.row().errorText(),
              of -> Shown.cut(of.row().errorText(), MOST_ERROR_CHARS))
          .leavingOut("VERSION", "TRIES", "CODE", "STATE");

  private final DeadLetters letters;
  private final Actor actor;

  /** Whoever made the letters closes them. */
  public DeadRows(DeadLetters letters, Actor actor) {
    this.letters = letters;
    this.actor = actor;
  }

  /**
   * Which dead letters an operator means; immutable.
   *
   * @param stored by what they are
   * @param state by what they are worth now, which is looked up for each of them; null for
   *     whichever
   */
  public record Filter(DeadLetterFilter stored, @Nullable LetterState state) {
    /** Those with these ids. */
    public static Filter ofIds(List<Long> ids) {
      return new Filter(DeadLetterFilter.ofIds(ids), null);
    }

    /**
     * What an operator wrote.
     *
     * @param ids empty for whichever
     * @param given texts by their names: owner, table, code, error, since, before, state; null
     *     where none is given
     * @throws GameQueueException naming what is wrong
     */
    public static Filter of(List<Long> ids, Function<String, @Nullable String> given) {
      return new Filter(
          new DeadLetterFilter(
              ids,
              read(given.apply("owner"), OwnerId::of),
              given.apply("table"),
              read(given.apply("code"), Filter::code),
              given.apply("error"),
              read(given.apply("since"), TimeArgument::of),
              read(given.apply("before"), TimeArgument::of)),
          read(given.apply("state"), Filter::state));
    }

    private static <T> @Nullable T read(@Nullable String text, Function<String, T> parse) {
      return text == null ? null : parse.apply(text);
    }

    private static Integer code(String text) {
      try {
        return Integer.valueOf(text);
      } catch (NumberFormatException e) {
        throw new GameQueueException("an error code is a number");
      }
    }

    private static LetterState state(String name) {
      try {
        return LetterState.valueOf(name.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw new GameQueueException("a state is waiting, superseded or unknown");
      }
    }

    /** Whether it lets everything through. */
    public boolean isAll() {
      return stored.isAll() && state == null;
    }

    /** In words: {@code table item, state waiting}. */
    @Override
    public String toString() {
      return state == null ? stored.toString() : stored + ", state " + Shown.lower(state);
    }
  }

  /** A dead letter, and what it is worth now; in a list without its row. Immutable. */
  public record LetterView(Stored stored, LetterState state) {
    public long id() {
      return stored.id();
    }

    /** Its error text is as MySQL said it: to be escaped by whoever shows it. */
    public Refused row() {
      return stored.refused();
    }

    /** As command and console show it. */
    @JsonValue
    Map<String, @Nullable Object> json() {
      return VIEW.json(this);
    }
  }

  /**
   * Some dead letters, in the order of their ids; immutable.
   *
   * @param looked at how many letters it looked, at least
   * @param next goes on where this page ends; 0 when it was the last
   */
  public record LetterPage(List<LetterView> letters, long looked, long next) {}

  /**
   * A dead letter in full, beside what MySQL holds of its row; immutable.
   *
   * @param op what the letter does to the row: put, delete or moved; null when it cannot be decoded
   * @param columns none when it cannot be decoded
   * @param there what MySQL has of the row, in words
   * @param undecodable why the row cannot be decoded, or null
   * @param hasValues whether the columns have their values, or these are hidden
   * @param revision changes whenever the kept row changes; an edit names the one that was looked at
   */
  public record Detail(
      LetterView letter,
      @Nullable String op,
      List<RowColumn> columns,
      String there,
      @Nullable String undecodable,
      boolean hasValues,
      String revision) {}

  /** The letters that a filter lets through now. */
  public Selection choose(Filter filter) {
    return new Selection(letters, filter);
  }

  /** Which of these ids no letter has. */
  public List<Long> unknown(List<Long> ids) {
    Set<Long> unknown = new TreeSet<>(ids);
    if (!ids.isEmpty()) {
      choose(Filter.ofIds(ids)).forEach((letter, state) -> unknown.remove(letter.id()));
    }
    return List.copyOf(unknown);
  }

  /**
   * A letter in full, null when it is gone.
   *
   * @param withValues whether to show the values of its row; that is in the audit log then
   */
  public @Nullable Detail show(long id, boolean withValues) {
    Stored letter = letters.find(id);
    if (letter == null) {
      return null;
    }
    if (withValues) {
      audit("dead show", target(letter), "with values");
    }
    LetterView listed = new LetterView(letter, letters.states(List.of(letter)).get(0));
    String revision = revision(letter);
    DecodeResult reading = read(letter);
    if (!(reading instanceof DecodedRow decoded)) {
      String why =
          Shown.line(
              "its row of %,d bytes cannot be decoded: %s",
              letter.refused().image().length, ((DecodeError) reading).reason());
      return new Detail(listed, null, List.of(), "", why, withValues, revision);
    }
    CurrentRow present = letters.rows().present(letter.refused().owner(), decoded.key());
    List<RowColumn> columns = RowColumn.of(decoded.image(), present.row(), withValues);
    String op = Shown.lower(decoded.image().op());
    return new Detail(listed, op, columns, there(present), null, withValues, revision);
  }

  private DecodeResult read(Stored letter) {
    return letters.rows().read(letter.key(), letter.refused().image());
  }

  private static String there(CurrentRow present) {
    RowImage row = present.row();
    if (row != null) {
      return "version " + Shown.version(row.version());
    }
    Long deleted = present.deletedVersion();
    return deleted == null ? "no such row" : "deleted in version " + Shown.version(deleted);
  }

  private static String revision(Stored letter) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(
          Long.toUnsignedString(letter.refused().version()).getBytes(StandardCharsets.US_ASCII));
      byte[] hash = digest.digest(letter.refused().image());
      return HexFormat.of().formatHex(Arrays.copyOf(hash, REVISION_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /**
   * Changes columns of a letter's row, which a retry then writes; its version, key and owner stay.
   *
   * @param revision that of the detail that was looked at
   * @param columns by name, as text; null for NULL. The audit log has the names alone
   * @return {@link Resolution#GONE} when the letter is not any more as it was looked at, {@link
   *     Resolution#LEFT} when a value, a column or the letter does not allow it
   */
  public ActionResult edit(long id, String revision, Map<String, @Nullable String> columns) {
    Stored letter = letters.find(id);
    if (letter == null) {
      return new ActionResult(id, Long.toString(id), Resolution.GONE, NOT_EDITED, CHANGED);
    }
    if (!revision(letter).equals(revision)) {
      return done(letter, Resolution.GONE, NOT_EDITED, CHANGED);
    }
    LetterState state = letters.states(List.of(letter)).get(0);
    String target = target(letter);
    return edit(letter, state, columns, () -> audit("dead edit", target, names(columns)));
  }

  /** The same of many letters; tells what became of each. */
  public void edit(
      Selection chosen, Map<String, @Nullable String> columns, Consumer<ActionResult> told) {
    audit("dead edit", chosen.filter.toString(), chosen.text() + ", " + names(columns));
    chosen.forEach((letter, state) -> told.accept(edit(letter, state, columns, () -> {})));
  }

  private ActionResult edit(
      Stored letter, LetterState state, Map<String, @Nullable String> columns, Runnable beforeIt) {
    if (state == LetterState.SUPERSEDED) {
      return done(
          letter,
          Resolution.LEFT,
          NOT_EDITED,
          "MySQL holds this version of the row or a newer one: nothing is left to write");
    }
    DecodeResult reading = read(letter);
    if (reading instanceof DecodeError of) {
      return done(letter, Resolution.LEFT, NOT_EDITED, "its row cannot be decoded: " + of.reason());
    }
    byte[] image;
    try {
      image = letters.rows().encode(RowEdit.of(((DecodedRow) reading).image(), columns));
    } catch (RowRefusedException e) {
      return done(letter, Resolution.LEFT, NOT_EDITED, String.valueOf(e.getMessage()));
    }
    beforeIt.run();
    return letters.replace(letter, image)
        ? done(letter, Resolution.DONE, "edited", "")
        : done(letter, Resolution.GONE, NOT_EDITED, CHANGED);
  }

  private static ActionResult done(Stored letter, Resolution result, String became, String why) {
    return new ActionResult(letter.id(), name(letter), result, became, Shown.text(why));
  }

  /**
   * Writes the rows of letters to MySQL after all, each by itself; never over a newer row. One that
   * another one may make fit is tried again as long as others get through.
   *
   * @param isDryRun whether each is tried and rolled back; that is not in the audit log
   * @param told what became of each
   */
  public void retry(Selection chosen, boolean isDryRun, Consumer<ActionResult> told) {
    if (!isDryRun) {
      audit("dead retry", chosen.filter.toString(), chosen.text());
    }
    Map<Long, ActionResult> waiting = new LinkedHashMap<>();
    boolean[] isWritten = {false};
    chosen.forEach(
        (letter, state) ->
            isWritten[0] |= retry(letter.id(), isDryRun, name(letter), waiting, told));
    while (!isDryRun && isWritten[0]) {
      isWritten[0] = false;
      for (ActionResult of : List.copyOf(waiting.values())) {
        isWritten[0] |= retry(of.id(), isDryRun, of.name(), waiting, told);
      }
    }
    waiting.values().forEach(told);
  }

  /** Whether it is written; tells what became of it, but where another one may make it fit. */
  private boolean retry(
      long id,
      boolean isDryRun,
      String name,
      Map<Long, ActionResult> waiting,
      Consumer<ActionResult> told) {
    RetryResult outcome = letters.retry(id, isDryRun);
    ActionResult done = done(id, name, outcome);
    if (outcome.status() == RetryStatus.REFUSED && (outcome.curable() || waiting.containsKey(id))) {
      waiting.put(id, done);
    } else {
      waiting.remove(id);
      told.accept(done);
    }
    return outcome.status() == RetryStatus.WRITTEN;
  }

  private static ActionResult done(long id, String name, RetryResult outcome) {
    String reason = outcome.reason();
    return switch (outcome.status()) {
      case WRITTEN -> new ActionResult(id, name, Resolution.DONE, "written", "");
      case SUPERSEDED -> new ActionResult(id, name, Resolution.DONE, "removed as superseded", "");
      case GONE -> new ActionResult(id, name, Resolution.DONE, "removed by somebody else", "");
      case LOCKED -> new ActionResult(id, name, Resolution.LEFT, "left alone", Shown.text(reason));
      case REFUSED -> {
        String why = Shown.text(outcome.errorCode() + " " + reason);
        yield new ActionResult(id, name, Resolution.LEFT, "refused again", why);
      }
    };
  }

  /**
   * Gives letters up: nothing writes that version again, nor an older one of the row by the same
   * owner. Tells what became of each.
   */
  public void discard(Selection chosen, Consumer<ActionResult> told) {
    audit("dead discard", chosen.filter.toString(), chosen.text());
    chosen.forEach(
        (letter, state) ->
            told.accept(
                letters.discard(letter)
                    ? done(letter, Resolution.DONE, "discarded", "")
                    : done(letter, Resolution.LEFT, "kept", "it changed meanwhile, or is gone")));
  }

  /**
   * Hands over letters as JSON objects: as lists have them, with the names of columns.
   *
   * @param withValues whether with the values of their rows, as an edit takes them
   */
  public void export(
      Selection chosen, boolean withValues, Consumer<Map<String, @Nullable Object>> object) {
    String values = withValues ? ", with values" : ", without values";
    audit("dead export", chosen.filter.toString(), chosen.text() + values);
    chosen.forEach(
        (letter, state) -> {
          Map<String, @Nullable Object> all = VIEW.json(new LetterView(letter, state));
          DecodeResult reading = read(letter);
          if (reading instanceof DecodedRow decoded) {
            Map<String, @Nullable Object> columns = RowColumn.set(decoded.image());
            columns.replaceAll((name, value) -> value == null ? null : ColumnType.text(value));
            all.put("op", Shown.lower(decoded.image().op()));
            all.put(
                withValues ? "row" : "columns",
                withValues ? columns : List.copyOf(columns.keySet()));
          } else {
            all.put("bytes", letter.refused().image().length);
            all.put("undecodable", ((DecodeError) reading).reason());
          }
          object.accept(all);
        });
  }

  private void audit(String action, String target, String detail) {
    letters.audit(actor, action, target, detail);
  }

  /** On one line: {@code 7 item:42,1 of player:42, version 116...} */
  private static String name(Stored letter) {
    return target(letter) + ", version " + Long.toUnsignedString(letter.refused().version());
  }

  /** Without its version: {@code 7 item:42,1 of player:42} */
  private static String target(Stored letter) {
    Refused row = letter.refused();
    return Shown.line("%s %s:%s of %s", letter.id(), row.table(), row.rowKey(), row.owner().id());
  }

  private static String names(Map<String, @Nullable String> columns) {
    return "columns " + String.join(", ", new TreeSet<>(columns.keySet()));
  }

  /**
   * The dead letters that a filter let through when it was asked; those that come later are not
   * among them. Used by one thread.
   */
  public static final class Selection {
    /** A list counts no further. */
    private static final long MOST_COUNTED = 10_000;

    /** How long a list looks for one page; a browser waits for it. */
    private static final long MOST_LOOK_NANOS = Duration.ofSeconds(2).toNanos();

    /** Of which states are looked up in one go. */
    private static final int STATES = 500;

    private final DeadLetters letters;
    private final Filter filter;
    private final long lastId;
    private long count = -1;

    private Selection(DeadLetters letters, Filter filter) {
      this.letters = letters;
      this.filter = filter;
      this.lastId = letters.lastId();
    }

    /** How many there are; where a state was asked for, at most. May look at all letters. */
    public long count() {
      if (count < 0) {
        count = letters.count(filter.stored());
      }
      return count;
    }

    /**
     * How many there are, as a list tells it without looking at all: {@code 71 dead letters},
     * {@code more than 10,000 dead letters}; or how many it looked at, where only that tells.
     *
     * @param looked by the list
     */
    public String total(long looked) {
      if (filter.state() != null || !filter.stored().isIndexed()) {
        return Shown.count(looked, "dead letter") + " looked at";
      }
      long counted = letters.count(filter.stored(), MOST_COUNTED + 1);
      return (counted > MOST_COUNTED ? "more than " : "")
          + Shown.count(Math.min(counted, MOST_COUNTED), "dead letter");
    }

    private String text() {
      return Shown.count(count(), "dead letter");
    }

    /** In words, such as {@code 2 dead letters (table item)}. */
    @Override
    public String toString() {
      String most = filter.state() == null ? "" : "at most ";
      return "%s%s (%s)".formatted(most, text(), Shown.text(filter.toString()));
    }

    /** Hands over one after another, with their rows. */
    void forEach(BiConsumer<Stored, LetterState> action) {
      letters.pages(
          filter.stored(),
          0,
          lastId,
          true,
          0,
          page -> {
            fitting(page.letters()).forEach(of -> action.accept(of.stored, of.state));
            return true;
          });
    }

    /**
     * Some of them without their rows, in the order of their ids: fewer than there are when two
     * seconds are over, since few fit the filter.
     *
     * @param after where the last page ended, 0 to begin
     * @param most letters of the page; at least 1
     */
    public LetterPage page(long after, int most) {
      long begunNanos = System.nanoTime();
      List<LetterView> found = new ArrayList<>();
      long[] looked = {0};
      long[] next = {0};
      letters.pages(
          filter.stored(),
          after,
          lastId,
          false,
          filter.state() == null ? Math.min(STATES, most + 1) : STATES,
          page -> {
            looked[0] += page.looked();
            found.addAll(fitting(page.letters()));
            boolean isLate = System.nanoTime() - begunNanos > MOST_LOOK_NANOS;
            if (found.size() > most) {
              next[0] = found.get(most - 1).id();
            } else if (page.upTo() < lastId && isLate) {
              next[0] = page.upTo();
            }
            return next[0] == 0;
          });
      return new LetterPage(found.subList(0, Math.min(most, found.size())), looked[0], next[0]);
    }

    private List<LetterView> fitting(List<Stored> page) {
      List<LetterState> states = letters.states(page);
      return IntStream.range(0, page.size())
          .mapToObj(i -> new LetterView(page.get(i), states.get(i)))
          .filter(of -> filter.state() == null || of.state == filter.state())
          .toList();
    }
  }
}
