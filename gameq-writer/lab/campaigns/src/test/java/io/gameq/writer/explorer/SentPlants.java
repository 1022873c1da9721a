package io.gameq.writer.explorer;

import io.gameq.writer.explorer.Exploration.Task;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.List;

/** The rules of rows that are sent, taken out, with the cast in which that shows. */
final class SentPlants {
  private SentPlants() {}

  private static final String OPEN = " open.lua";
  private static final String READ = " read.lua";
  private static final String COMMIT = " commit.lua";
  private static final String ACK = " ack.lua";
  private static final String REASSERT = " reassert.lua";

  static List<Task> all() {
    return List.of(
        new Task(
            Plant.without("an open looks into inboxes")
                .lua(OPEN, "local sent = rows_of_inboxes(slot, owner)", "local sent = {}"),
            SentScenarios.changed(false, 0)),
        new Task(
            Plant.without("a read looks into inboxes")
                .lua(READ, "rows_of_inboxes(slot, owner)}", "{}}"),
            SentScenarios.two(1)),
        new Task(
            Plant.without("who has the owner is told")
                .lua(COMMIT, "if not holder then return end", "do return end"),
            SentScenarios.changed(false, 0)),
        new Task(
            Plant.without("an ack keeps an inbox that has newer rows")
                .lua(ACK, "if to and not more then", "if to then"),
            SentScenarios.two(1)),
        new Task(
            Plant.without("what was sent is flushed by its version, beside the owner's changes")
                .sql(
                    "INSERT INTO `item`",
                    sql ->
                        sql.replaceAll(
                            "(VALUES\\(`gq_version`\\)|gq_new.`gq_version`) >"
                                + " `item`.`gq_version`",
                            "TRUE")),
            SentScenarios.changed(false, 0)),
        new Task(
            notLocked("a flush of what was sent locks its owner, and tombstones are locked")
                .sql(
                    "FROM gameq_tombstone WHERE table_name = ?",
                    sql -> sql.replace(" LOCK IN SHARE MODE", "")),
            SentScenarios.deleted(0)),
        new Task(
            Plant.without("what was sent looks for tombstones")
                .sql(
                    "FROM gameq_tombstone WHERE table_name = ?",
                    sql -> sql.replace("WHERE table_name", "WHERE FALSE AND table_name")),
            SentScenarios.deleted(0)),
        new Task(
            Plant.without("what a session makes of a row that was sent is newer")
                .with(Switch.CLOCK_NOT_MOVED_ON),
            SentScenarios.clockAhead()),
        new Task(
            Plant.without("own changes and what is sent with them go together")
                .with(Switch.SPANNING_AS_MULTIS),
            SentScenarios.withOwn(0)),
        new Task(
            Plant.without("who was forgotten is told of what was sent meanwhile")
                .lua(REASSERT, "tell_sent(slot, owner, session, true, not_told(owned_by))", ""),
            SentScenarios.failover(2)),
        new Task(
            Plant.without("who was forgotten is told of what was flushed meanwhile")
                .lua(ACK, "then note_unheld(to, owner) end", "then local unused end"),
            SentScenarios.failover(2)),
        new Task(
            Plant.without("what was sent is put back").with(Switch.INBOXES_NOT_REPLAYED),
            SentScenarios.failover(2)));
  }

  /** Of two rules that keep a late insert behind the delete, either one is enough here. */
  static Task covered() {
    return new Task(
        notLocked("a flush of what was sent locks its owner"), SentScenarios.deleted(1));
  }

  private static Plant notLocked(String rule) {
    return Plant.without(rule)
        .flushSql(
            "ORDER BY owner FOR UPDATE",
            (sql, rows) ->
                rows.stream().allMatch(of -> of.owner().isInbox())
                    ? sql.replace(" FOR UPDATE", "")
                    : sql)
        .with(Switch.OWNERS_NOT_LOCKED);
  }
}
