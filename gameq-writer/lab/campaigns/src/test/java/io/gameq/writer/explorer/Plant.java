package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * One rule taken out: edits of scripts and statements on their way to the servers, and switches of
 * the actors. An edit that matches nothing fails: the code has changed and the plant must follow.
 */
final class Plant {
  private final String rule;
  private final List<LuaEdit> lua = new ArrayList<>();
  private final List<SqlEdit> sql = new ArrayList<>();
  private final Set<Switch> switches = new HashSet<>();
  private final Set<Object> matched = ConcurrentHashMap.newKeySet();

  /** What cannot be planted as text: the actors do it. */
  enum Switch {
    /** Open and read look into MySQL before they look into Redis. */
    MYSQL_READ_FIRST,
    /** Open tells Redis of its epoch, and reads, before the epoch is in MySQL. */
    EPOCH_AFTER_REDIS,
    /** Open reads the rows before it sets itself open. */
    FENCED_AFTER_READING,
    /** Open does not look whether Redis still has its session. */
    OPEN_NOT_CONFIRMED,
    /** A session is not healed while another one opens its owner. */
    ONLY_THE_NEWEST_HEALS,
    /** A writer finishes an open although the session that owns in Redis still counts. */
    OPENS_FINISHED_ALWAYS,
    /** An open that is tried again keeps its session. */
    SAME_EPOCH,
    /** A spanning commit is one MULTI for each session. */
    SPANNING_AS_MULTIS,
    /** The receiving half of a move does not say where the row came from. */
    RECEIVED_TELLS_NOTHING,
    /** The half of the owner that gives a row away has a version of its own, the lower one. */
    HALVES_OF_TWO_VERSIONS,
    /** A move is a delete and an insert. */
    MOVE_AS_DELETE_AND_INSERT,
    /** Owners are not locked: whoever would wait for them does not. */
    OWNERS_NOT_LOCKED,
    /** A commit counts whatever session its MULTI found. */
    OWN_NOT_CHECKED,
    /** Versions seen at open do not move the clock on. */
    CLOCK_NOT_MOVED_ON,
    /** No writer finishes an open whose node died. */
    OPENS_NOT_FINISHED,
    /** A node that connects again takes its sessions for its own without asking MySQL. */
    HEALS_WITHOUT_MYSQL,
    /** A healing that begins again forgets what the one before it still had to replay. */
    MARKS_TRUSTED_ALWAYS,
    /** Rows that a session adopted are not replayed. */
    ADOPTED_NOT_PUT_BACK,
    /** A replay goes backwards through the WAL. */
    REPLAY_NEWEST_FIRST,
    /** A commit whose reply was lost is answered without being sent again. */
    UNANSWERED_COUNT_AS_DONE,
    /** What was sent is not replayed. */
    INBOXES_NOT_REPLAYED,
    /** Sessions that were lost are replayed like the others. */
    LOST_SESSIONS_REPLAY,
    /** What a lost session lost is not reported. */
    LOST_NOT_REPORTED,
    /** What neither Redis nor MySQL holds is reported, whoever may be about to put it back. */
    REPORTED_WITHOUT_ASKING,
    /** A session that was opened while its node healed is not healed. */
    OPENED_WHILE_HEALING_IS_LEFT,
    /** An attempt to open goes on over a new connection to Redis. */
    OPEN_OUTLIVES_ITS_CONNECTION,
    /** An open does not put back what the one before it, which was given up, had adopted. */
    GIVEN_UP_IS_FORGOTTEN,
    /** A session is set open by way of any primary. */
    OPEN_COMPARES_NO_TERM,
    /** An open compares the term before the transaction that sets its session open. */
    OPEN_HOLDS_NO_TERM,
    /** A flush does not ask by way of which primary its rows came. */
    FLUSH_COMPARES_NO_TERM
  }

  private record LuaEdit(String script, String find, String replacement) {}

  private record SqlEdit(
      String statement, BiFunction<String, List<OwnerRows>, String> replacement) {}

  private Plant(String rule) {
    this.rule = rule;
  }

  static Plant none() {
    return new Plant("none");
  }

  static Plant without(String rule) {
    return new Plant(rule);
  }

  /** Edits every script that has {@code script} in it, as its name with a space before it. */
  Plant lua(String script, String find, String replacement) {
    lua.add(new LuaEdit(script, find, replacement));
    return this;
  }

  /** Edits statements that have {@code statement} in them. */
  Plant sql(String statement, UnaryOperator<String> replacement) {
    sql.add(new SqlEdit(statement, (text, rows) -> replacement.apply(text)));
    return this;
  }

  /** Edits the statements of a flush, by the rows that it flushes. */
  Plant flushSql(String statement, BiFunction<String, List<OwnerRows>, String> replacement) {
    sql.add(
        new SqlEdit(
            statement, (text, rows) -> rows.isEmpty() ? text : replacement.apply(text, rows)));
    return this;
  }

  Plant with(Switch one) {
    switches.add(one);
    return this;
  }

  String rule() {
    return rule;
  }

  boolean has(Switch one) {
    return switches.contains(one);
  }

  boolean editsScripts() {
    return !lua.isEmpty();
  }

  String lua(String text) {
    String edited = text;
    for (LuaEdit edit : lua) {
      if (edited.contains(edit.script)) {
        if (!edited.contains(edit.find)) {
          throw noMatch(edit.find);
        }
        edited = edited.replace(edit.find, edit.replacement);
        matched.add(edit);
      }
    }
    return edited;
  }

  String sql(String text, List<OwnerRows> rows) {
    String edited = text;
    for (SqlEdit edit : sql) {
      if (edited.contains(edit.statement)) {
        String before = edited;
        edited = edit.replacement.apply(edited, rows);
        if (!edited.equals(before)) {
          matched.add(edit);
        }
      }
    }
    return edited;
  }

  /** Fails when an edit never matched. */
  void requireMatched() {
    for (LuaEdit edit : lua) {
      if (!matched.contains(edit)) {
        throw noMatch(edit.find);
      }
    }
    for (SqlEdit edit : sql) {
      if (!matched.contains(edit)) {
        throw noMatch(edit.statement);
      }
    }
  }

  private IllegalStateException noMatch(String edit) {
    return new IllegalStateException(
        "the planted variant '" + rule + "' no longer matches the code: " + edit);
  }
}
