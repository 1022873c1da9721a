package io.gameq.writer.pause;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.PauseTable;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.rows.Catalog;
import java.util.Optional;
import java.util.Set;

/**
 * Pauses and resumes what operators name, by command line or console. Each action is written into
 * the audit log before it is done. Writers follow within about a second. Thread-safe.
 */
public final class Pausing {
  /** As long as gameq_pause has room. */
  private static final int MOST_REASON = 255;

  private static final int MOST_BY = 128;

  private final MySql mysql;
  private final int slots;

  /**
   * For one game.
   *
   * @param slots of its namespace
   */
  public Pausing(MySql mysql, int slots) {
    this.mysql = mysql;
    this.slots = slots;
  }

  /**
   * Pauses something; of what is paused already reason and time change. Returns the pause.
   *
   * @param reason 1 to 255 characters
   * @throws GameQueueException when there is no such slot or table, or the reason is missing or too
   *     long
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Pause pause(Actor actor, PauseTarget target, String reason) {
    String why = reason(reason, target.toString());
    requireKnown(target);
    AuditTable.add(mysql, actor, "pause", target.toString(), why);
    PauseTable.add(mysql, target.scope(), target.name(), why, cut(actor.who()));
    return find(target)
        .orElseThrow(() -> new GameQueueException(target + " was resumed by somebody else"));
  }

  /**
   * The reason of a pause, without spaces around it.
   *
   * @param what is paused
   * @throws GameQueueException when it is missing or longer than 255 characters
   */
  public static String reason(String reason, String what) {
    String why = reason.strip();
    if (why.isEmpty()) {
      throw new GameQueueException("a reason is needed: others will ask why " + what + " waits");
    }
    if (why.codePointCount(0, why.length()) > MOST_REASON) {
      throw new GameQueueException(
          "the reason is longer than %s characters".formatted(MOST_REASON));
    }
    return why;
  }

  private void requireKnown(PauseTarget target) {
    if (target.scope() == Scope.SLOT && Integer.parseInt(target.name()) >= slots) {
      throw new GameQueueException(
          "there is no slot %s: this game has slots 0 to %s".formatted(target.name(), slots - 1));
    }
    if (target.scope() == Scope.TABLE) {
      Catalog catalog = CatalogReader.read(mysql);
      if (!catalog.unmanaged().containsKey(target.name())) { // that is registered, too
        Object unused = catalog.table(target.name());
      }
    }
  }

  /**
   * Resumes something; returns the pause that it ends, or nothing when there was none.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Optional<Pause> resume(Actor actor, PauseTarget target) {
    Optional<Pause> pause = find(target);
    if (pause.isEmpty()) {
      return pause;
    }
    AuditTable.add(
        mysql, actor, "resume", target.toString(), "was paused " + PauseText.why(pause.get()));
    return PauseTable.remove(mysql, target.scope(), target.name()) ? pause : Optional.empty();
  }

  private Optional<Pause> find(PauseTarget target) {
    return all().all().stream()
        .filter(of -> of.scope() == target.scope() && of.name().equals(target.name()))
        .findFirst();
  }

  /**
   * All that is paused.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Pauses all() {
    return new Pauses(PauseTable.all(mysql));
  }

  /**
   * Tables whose rows wait: those that are paused, and those that refer to them.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Set<String> heldTables(Pauses pauses) {
    Set<String> paused = pauses.tables();
    return paused.isEmpty() ? paused : HeldTables.of(paused, CatalogReader.read(mysql)).waiting();
  }

  private static String cut(String who) {
    return who.codePointCount(0, who.length()) <= MOST_BY
        ? who
        : who.substring(0, who.offsetByCodePoints(0, MOST_BY));
  }
}
