package io.gameq.writer.mysql;

import io.gameq.owner.OwnerId;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** Whether indexes find them; else MySQL looks at each letter, or each of the owner. */
  public boolean isIndexed() {
    return table == null && errorCode == null && error == null && since == null && before == null;
  }

  /** What indexes find of it: no letter that it lets through is left out. */
  DeadLetterFilter indexed() {
    return new DeadLetterFilter(ids, owner, null, null, null, null, null);
  }

  /** The index by which it is read in the order of ids: MySQL may take another one, and sort. */
  String index() {
    return " FORCE INDEX (" + (owner == null ? "PRIMARY" : "gameq_dead_letter_owner") + ")";
  }

  /**
   * A query of those that it lets through.
   *
   * @param from what stands between the table and WHERE
   * @param ending may go on with AND
   */
  Query select(Handle handle, String columns, String from, String ending) {
    StringJoiner where = new StringJoiner(" AND ");
    where.add("TRUE");
    if (!ids.isEmpty()) { // numbers
      where.add(
          "id IN (" + ids.stream().map(String::valueOf).collect(Collectors.joining(",")) + ")");
    }
    Map<String, Object> given = new LinkedHashMap<>();
    add(given, where, "owner = :owner", "owner", owner == null ? null : owner.encoded());
    add(given, where, "table_name = :table", "table", table);
    add(given, where, "error_code = :code", "code", errorCode);
    add(given, where, "LOCATE(:error, error_text) > 0", "error", error);
    add(given, where, "refused_at >= :since", "since", since == null ? null : utc(since));
    add(given, where, "refused_at < :before", "before", before == null ? null : utc(before));
    return handle
        .createQuery(
            "SELECT " + columns + " FROM gameq_dead_letter" + from + " WHERE " + where + ending)
        .bindMap(given);
  }

  private static void add(
      Map<String, Object> all,
      StringJoiner where,
      String condition,
      String name,
      @Nullable Object given) {
    if (given != null) {
      where.add(condition);
      all.put(name, given);
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
