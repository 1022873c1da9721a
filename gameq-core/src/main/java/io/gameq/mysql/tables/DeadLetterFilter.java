package io.gameq.mysql.tables;

import io.gameq.owner.OwnerId;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters are meant: those that fit everything it names; immutable.
 *
 * @param ids empty for whichever
 * @param owner null for whichever, as in what follows
 * @param table by its name
 * @param errorCode MySQL's, 0 for an error of gameq's own, -1 for a row of another owner
 * @param error a part of the error's text, in capital letters or not
 * @param since refused then or later
 * @param before refused earlier than then
 */
public record DeadLetterFilter(
    List<Long> ids,
    @Nullable OwnerId owner,
    @Nullable String table,
    @Nullable Integer errorCode,
    @Nullable String error,
    @Nullable Instant since,
    @Nullable Instant before) {
  /** Every dead letter. */
  public static final DeadLetterFilter ALL =
      new DeadLetterFilter(List.of(), null, null, null, null, null, null);

  public DeadLetterFilter {
    ids = List.copyOf(ids);
  }

  /** Those with these ids. */
  public static DeadLetterFilter ofIds(List<Long> ids) {
    return new DeadLetterFilter(ids, null, null, null, null, null, null);
  }

  /** Whether it lets everything through. */
  public boolean isAll() {
    return equals(ALL);
  }

  /** A query of those that it lets through; the ending may go on with AND. */
  Query select(Handle handle, String columns, String ending) {
    StringJoiner where = new StringJoiner(" AND ");
    where.add("TRUE");
    if (!ids.isEmpty()) { // numbers
      where.add(
          "id IN (" + ids.stream().map(String::valueOf).collect(Collectors.joining(",")) + ")");
    }
    add(where, owner, "owner = :owner");
    add(where, table, "table_name = :table");
    add(where, errorCode, "error_code = :code");
    add(where, error, "LOCATE(:error, error_text) > 0");
    add(where, since, "refused_at >= :since");
    add(where, before, "refused_at < :before");
    Query query =
        handle.createQuery("SELECT " + columns + " FROM gameq_dead_letter WHERE " + where + ending);
    if (owner != null) {
      query.bind("owner", owner.encoded());
    }
    if (table != null) {
      query.bind("table", table);
    }
    if (errorCode != null) {
      query.bind("code", errorCode);
    }
    if (error != null) {
      query.bind("error", error);
    }
    if (since != null) {
      query.bind("since", utc(since));
    }
    if (before != null) {
      query.bind("before", utc(before));
    }
    return query;
  }

  private static void add(StringJoiner where, @Nullable Object given, String condition) {
    if (given != null) {
      where.add(condition);
    }
  }

  private static LocalDateTime utc(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }

  /** In words: {@code table item, error code 4025}; {@code all}. */
  @Override
  public String toString() {
    StringJoiner words = new StringJoiner(", ");
    if (!ids.isEmpty()) {
      words.add("id " + ids.stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }
    addWords(words, "owner", owner == null ? null : owner.id());
    addWords(words, "table", table);
    addWords(words, "error code", errorCode);
    addWords(words, "error text", error);
    addWords(words, "since", since);
    addWords(words, "before", before);
    return isAll() ? "all" : words.toString();
  }

  private static void addWords(StringJoiner words, String name, @Nullable Object given) {
    if (given != null) {
      words.add(name + " " + given);
    }
  }
}
