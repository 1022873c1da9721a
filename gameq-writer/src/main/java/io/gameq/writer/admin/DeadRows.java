package io.gameq.writer.admin;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowEdit;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ValueText;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.Done.Result;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.mysql.DeadLetterFilter;
import io.gameq.writer.mysql.DeadLetterRetry;
import io.gameq.writer.mysql.DeadLetterRetry.Gone;
import io.gameq.writer.mysql.DeadLetterRetry.Locked;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Superseded;
import io.gameq.writer.mysql.DeadLetterRetry.Written;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.State;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Present;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import io.gameq.writer.terminal.Moment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
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

  /** Dead letters as lists have them. */
  public static final RecordView<Listed> VIEW =
      new RecordView<Listed>()
          .field("ID", "id", Listed::id)
          .field("TABLE", "table", Listed::table)
          .field("KEY", "key", Listed::key)
          .field("OWNER", "owner", Listed::owner)
          .field("VERSION", "version", of -> Long.toUnsignedString(of.version))
          .field("STATE", "state", Listed::state)
          .field("TRIES", "attempts", Listed::attempts)
          .field("REFUSED (UTC)", "refusedAt", Listed::refusedAt)
          .field("CODE", "errorCode", Listed::errorCode)
          .field("ERROR", "error", Listed::error, of -> Shown.cut(of.error, MOST_ERROR_CHARS))
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
  public record Filter(DeadLetterFilter stored, @Nullable State state) {
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
      String owner = given.apply("owner");
      String state = given.apply("state");
      return new Filter(
          new DeadLetterFilter(
              ids,
              owner == null ? null : OwnerId.of(owner),
              given.apply("table"),
              code(given.apply("code")),
              given.apply("error"),
              moment(given.apply("since")),
              moment(given.apply("before"))),
          state == null ? null : state(state));
    }

    private static @Nullable Instant moment(@Nullable String text) {
      return text == null ? null : Moment.of(text);
    }

    private static @Nullable Integer code(@Nullable String text) {
      try {
        return text == null ? null : Integer.valueOf(text);
      } catch (NumberFormatException e) {
        throw new GameQueueException("an error code is a number");
      }
    }

    private static State state(String name) {
      try {
        return State.valueOf(name.toUpperCase(Locale.ROOT));
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
      return state == null ? stored.toString() : stored + ", state " + lower(state);
    }
  }

  /**
   * A dead letter as lists have it, without its row; immutable.
   *
   * @param key the part of the row key after the table
   * @param version of the row, unsigned
   * @param attempts how often the row was tried
   * @param errorCode MySQL's, 0 for an error of gameq's own, -1 for a row of another owner
   * @param error as MySQL said it: to be escaped by whoever shows it
   */
  public record Listed(
      long id,
      String table,
      String key,
      String owner,
      long version,
      State state,
      int attempts,
      Instant refusedAt,
      int errorCode,
      String error) {
    static Listed of(Stored letter, State state) {
      Refused row = letter.refused();
      return new Listed(
          letter.id(),
          row.table(),
          row.rowKey(),
          row.owner().id(),
          row.version(),
          state,
          row.attempts(),
          letter.refusedAt(),
          row.errorCode(),
          row.errorText());
    }
  }

  /**
   * Some dead letters, in the order of their ids; immutable.
   *
   * @param looked at how many letters it looked, at least
   * @param next goes on where this page ends; 0 when it was the last
   */
  public record Page(List<Listed> letters, long looked, long next) {
    public Page {
      letters = List.copyOf(letters);
    }
  }

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
      Listed letter,
      @Nullable String op,
      List<RowColumn> columns,
      String there,
      @Nullable String undecodable,
      boolean hasValues,
      String revision) {
    public Detail {
      columns = List.copyOf(columns);
    }
  }

  /** The letters that a filter lets through now. */
  public Selection choose(Filter filter) {
    return new Selection(letters, filter);
  }

  /** Which of these ids no letter has. */
  public List<Long> unknown(List<Long> ids) {
    Set<Long> unknown = new TreeSet<>(ids);
    if (!ids.isEmpty()) {
      choose(Filter.ofIds(ids)).forEach(letter -> unknown.remove(letter.id()));
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
    Listed listed = Listed.of(letter, letters.states(List.of(letter)).get(0));
    Refused row = letter.refused();
    String revision = revision(letter);
    Reading reading = letters.rows().read(row.key(), row.image());
    if (!(reading instanceof Decoded decoded)) {
      String why =
          String.format(
              Locale.ROOT,
              "its row of %,d bytes cannot be decoded: %s",
              row.image().length,
              ((Undecodable) reading).reason());
      return new Detail(listed, null, List.of(), "", why, withValues, revision);
    }
    Present present = letters.rows().present(row.owner(), decoded.key());
    return new Detail(
        listed,
        lower(decoded.image().op()),
        RowColumn.of(decoded.image(), present.row(), withValues),
        there(present),
        null,
        withValues,
        revision);
  }

  private static String there(Present present) {
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
   * @return {@link Result#GONE} when the letter is not any more as it was looked at, {@link
   *     Result#LEFT} when a value, a column or the letter does not allow it
   */
  public Done edit(long id, String revision, Map<String, @Nullable String> columns) {
    Stored letter = letters.find(id);
    if (letter == null || !revision(letter).equals(revision)) {
      return changedMeanwhile(id, letter == null ? Long.toString(id) : name(letter));
    }
    return edit(letter, columns, () -> audit("dead edit", target(letter), names(columns)));
  }

  /** The same of many letters; tells what became of each. */
  public void edit(Selection chosen, Map<String, @Nullable String> columns, Consumer<Done> told) {
    audit("dead edit", chosen.filter.toString(), chosen.text() + ", " + names(columns));
    chosen.forEach(letter -> told.accept(edit(letter, columns, () -> {})));
  }

  private Done edit(Stored letter, Map<String, @Nullable String> columns, Runnable beforeIt) {
    byte[] image;
    try {
      image = edited(letter, columns);
    } catch (RowRefusedException e) {
      String why = String.valueOf(e.getMessage());
      return Done.of(letter.id(), name(letter), Result.LEFT, "not edited", why);
    }
    beforeIt.run();
    return letters.replace(letter, image)
        ? Done.of(letter.id(), name(letter), Result.DONE, "edited", "")
        : changedMeanwhile(letter.id(), name(letter));
  }

  private static Done changedMeanwhile(long id, String name) {
    return Done.of(id, name, Result.GONE, "not edited", "it changed meanwhile: look at it again");
  }

  private byte[] edited(Stored letter, Map<String, @Nullable String> columns) {
    Refused row = letter.refused();
    if (letters.states(List.of(letter)).get(0) == State.SUPERSEDED) {
      throw new RowRefusedException(
          "MySQL holds this version of the row or a newer one: nothing is left to write");
    }
    Reading reading = letters.rows().read(row.key(), row.image());
    if (reading instanceof Decoded decoded) {
      return letters.rows().encode(RowEdit.of(decoded.image(), columns));
    }
    throw new RowRefusedException("its row cannot be decoded: " + ((Undecodable) reading).reason());
  }

  /**
   * Writes the rows of letters to MySQL after all, each by itself; never over a newer row. One that
   * another one may make fit is tried again as long as others get through.
   *
   * @param isDryRun whether each is tried and rolled back; that is not in the audit log
   * @param told what became of each
   */
  public void retry(Selection chosen, boolean isDryRun, Consumer<Done> told) {
    if (!isDryRun) {
      audit("dead retry", chosen.filter.toString(), chosen.text());
    }
    DeadLetterRetry retry = letters.retry(isDryRun);
    Map<Long, Done> waiting = new LinkedHashMap<>();
    long[] written = {0};
    chosen.forEach(
        letter -> {
          Outcome outcome = retry.retry(letter.id());
          Done done = done(letter.id(), name(letter), outcome);
          if (outcome instanceof DeadLetterRetry.Refused refused && refused.curable()) {
            waiting.put(letter.id(), done);
          } else {
            written[0] += outcome instanceof Written ? 1 : 0;
            told.accept(done);
          }
        });
    for (long before = 0; !isDryRun && written[0] > before; ) {
      before = written[0];
      for (Done of : List.copyOf(waiting.values())) {
        Outcome outcome = retry.retry(of.id());
        Done again = done(of.id(), of.name(), outcome);
        if (outcome instanceof DeadLetterRetry.Refused) {
          waiting.put(of.id(), again);
        } else {
          waiting.remove(of.id());
          written[0] += outcome instanceof Written ? 1 : 0;
          told.accept(again);
        }
      }
    }
    waiting.values().forEach(told);
  }

  private static Done done(long id, String name, Outcome outcome) {
    if (outcome instanceof DeadLetterRetry.Refused refused) {
      String why = refused.errorCode() + " " + refused.reason();
      return Done.of(id, name, Result.LEFT, "refused again", why);
    }
    if (outcome instanceof Locked locked) {
      return Done.of(id, name, Result.LEFT, "left alone", locked.reason());
    }
    String became =
        outcome instanceof Superseded
            ? "removed as superseded"
            : outcome instanceof Gone ? "removed by somebody else" : "written";
    return Done.of(id, name, Result.DONE, became, "");
  }

  /**
   * Gives letters up: nothing writes that version again, nor an older one of the row by the same
   * owner. Tells what became of each.
   */
  public void discard(Selection chosen, Consumer<Done> told) {
    audit("dead discard", chosen.filter.toString(), chosen.text());
    chosen.forEach(
        letter -> {
          boolean discarded = letters.discard(letter);
          told.accept(
              discarded
                  ? Done.of(letter.id(), name(letter), Result.DONE, "discarded", "")
                  : Done.of(
                      letter.id(),
                      name(letter),
                      Result.LEFT,
                      "kept",
                      "it changed meanwhile, or is gone"));
        });
  }

  /**
   * Hands over letters as JSON objects: as lists have them, with the names of columns.
   *
   * @param withValues whether with the values of their rows, as an edit takes them
   */
  public void export(
      Selection chosen, boolean withValues, Consumer<Map<String, @Nullable Object>> object) {
    audit(
        "dead export",
        chosen.filter.toString(),
        chosen.text() + (withValues ? ", with values" : ", without values"));
    chosen.forEach(
        true,
        (letter, state) -> {
          Map<String, @Nullable Object> values = VIEW.json(Listed.of(letter, state));
          Refused row = letter.refused();
          Reading reading = letters.rows().read(row.key(), row.image());
          if (reading instanceof Decoded decoded) {
            Map<String, @Nullable String> columns = row(decoded.image());
            values.put("op", lower(decoded.image().op()));
            values.put(
                withValues ? "row" : "columns",
                withValues ? columns : List.copyOf(columns.keySet()));
          } else {
            values.put("bytes", row.image().length);
            values.put("undecodable", ((Undecodable) reading).reason());
          }
          object.accept(values);
          return true;
        });
  }

  private static Map<String, @Nullable String> row(RowImage image) {
    boolean isDelete = image.op() == RowOp.DELETE;
    List<Column> columns = isDelete ? image.table().keyColumns() : image.table().columns();
    Map<String, @Nullable String> row = new LinkedHashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      if (isDelete || image.names(i)) {
        Object value = image.values()[i];
        row.put(columns.get(i).name(), value == null ? null : ValueText.of(value));
      }
    }
    return row;
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
    return "%s %s:%s of %s"
        .formatted(
            letter.id(),
            Shown.text(row.table()),
            Shown.text(row.rowKey()),
            Shown.text(row.owner().id()));
  }

  private static String names(Map<String, @Nullable String> columns) {
    return "columns " + String.join(", ", new TreeSet<>(columns.keySet()));
  }

  private static String lower(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT);
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
    void forEach(Consumer<Stored> action) {
      forEach(
          false,
          (letter, state) -> {
            action.accept(letter);
            return true;
          });
    }

    /**
     * The same while it is wanted.
     *
     * @param withState whether the state is wanted; else it may be {@link State#UNKNOWN}
     */
    void forEach(boolean withState, BiPredicate<Stored, State> wanted) {
      letters.pages(
          filter.stored(),
          0,
          lastId,
          true,
          0,
          page -> {
            each(page.letters(), withState, wanted);
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
    public Page page(long after, int most) {
      long begunNanos = System.nanoTime();
      List<Listed> found = new ArrayList<>();
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
            each(
                page.letters(),
                true,
                (letter, state) -> {
                  if (found.size() == most) {
                    next[0] = found.get(most - 1).id();
                    return false;
                  }
                  return found.add(Listed.of(letter, state));
                });
            if (next[0] == 0
                && page.upTo() < lastId
                && System.nanoTime() - begunNanos > MOST_LOOK_NANOS) {
              next[0] = page.upTo();
            }
            return next[0] == 0;
          });
      return new Page(found, looked[0], next[0]);
    }

    private void each(List<Stored> page, boolean withState, BiPredicate<Stored, State> wanted) {
      State only = filter.state();
      List<State> states = withState || only != null ? letters.states(page) : List.of();
      for (int i = 0; i < page.size(); i++) {
        State state = states.isEmpty() ? State.UNKNOWN : states.get(i);
        if ((only == null || state == only) && !wanted.test(page.get(i), state)) {
          return;
        }
      }
    }
  }
}
