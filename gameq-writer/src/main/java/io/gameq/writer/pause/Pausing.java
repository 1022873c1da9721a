package io.gameq.writer.pause;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.pause.PauseWatch.PauseText;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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

  /**
   * Which rows stay in Redis while tables are paused: those of the tables, those of tables that
   * refer to them, whose parents may be among the former, and deletes in tables that they refer to,
   * whose children may be. Immutable.
   *
   * @param waiting tables of which all rows wait
   * @param keeping tables of which deletes wait
   */
  public record HeldTables(Set<String> waiting, Set<String> keeping) {
    private static final HeldTables NONE = new HeldTables(Set.of(), Set.of());

    public HeldTables {
      waiting = Set.copyOf(waiting);
      keeping = Set.copyOf(keeping);
    }

    /** By the foreign keys of a catalogue, however many steps they take. */
    public static HeldTables of(Collection<String> paused, Catalog catalog) {
      if (paused.isEmpty()) {
        return NONE;
      }
      Set<String> waiting = new HashSet<>(paused);
      Set<String> keeping = new HashSet<>(paused);
      boolean more = true;
      while (more) { // foreign keys may go round in circles
        more = false;
        for (Table table : catalog.tables()) {
          Set<String> parents = table.foreignKeys().parents();
          if (parents.stream().anyMatch(waiting::contains)) {
            more |= waiting.add(table.name());
          }
          if (keeping.contains(table.name())) {
            more |= keeping.addAll(parents);
          }
        }
      }
      return new HeldTables(waiting, keeping);
    }

    /** Whether such a row of a table waits. */
    public boolean holds(String table, RowOp op) {
      return waiting.contains(table) || (op == RowOp.DELETE && keeping.contains(table));
    }

    /** Whether no row waits. */
    public boolean isEmpty() {
      return waiting.isEmpty();
    }
  }

  /**
   * What an operator pauses or resumes. Immutable.
   *
   * @param name slot number, table or writer; empty for {@link Scope#ALL}
   */
  public record PauseTarget(Scope scope, String name) {
    private static final String WRITER_NAME = "[A-Za-z0-9._-]{1,64}";

    /**
     * Reads what the operator named.
     *
     * @param scope {@code all}, {@code slot}, {@code table} or {@code writer}
     * @param name empty for all
     * @throws GameQueueException when there is no such thing, or the name is missing or too many
     */
    public static PauseTarget of(String scope, String name) {
      return switch (scope.toLowerCase(Locale.ROOT)) {
        case "all" -> all(name);
        case "slot" -> new PauseTarget(Scope.SLOT, slot(name));
        case "table" -> new PauseTarget(Scope.TABLE, required(name, "table", "item"));
        case "writer" -> new PauseTarget(Scope.WRITER, writer(name));
        default ->
            throw new GameQueueException(
                "'%s' is nothing that can be paused: use all, slot, table or writer"
                    .formatted(scope));
      };
    }

    private static PauseTarget all(String name) {
      if (!name.isEmpty()) {
        throw new GameQueueException("'all' takes no name, not '%s'".formatted(name));
      }
      return new PauseTarget(Scope.ALL, "");
    }

    private static String slot(String name) {
      String number = required(name, "slot", "3");
      if (!number.matches("\\d{1,4}")) {
        throw new GameQueueException("'%s' is no slot: use its number".formatted(number));
      }
      return Integer.toString(Integer.parseInt(number));
    }

    private static String writer(String name) {
      if (!required(name, "writer", "writer-1").matches(WRITER_NAME)) {
        throw new GameQueueException(
            "'%s' is no writer's name: those have 1 to 64 of A-Z a-z 0-9 . _ -".formatted(name));
      }
      return name;
    }

    private static String required(String name, String scope, String example) {
      if (name.isEmpty()) {
        throw new GameQueueException("which %s? Name it: %s %s".formatted(scope, scope, example));
      }
      return name;
    }

    @Override
    public String toString() {
      return scope == Scope.ALL ? "all" : scope.name().toLowerCase(Locale.ROOT) + " " + name;
    }
  }

  /** All that is paused at a moment. Immutable. */
  public static final class Pauses {
    /** Nothing is paused. */
    public static final Pauses NONE = new Pauses(List.of());

    private final List<Pause> all;
    private final Map<Scope, Map<String, Pause>> byScope = new HashMap<>();
    private final @Nullable Pause ofAll;

    public Pauses(List<Pause> all) {
      this.all = List.copyOf(all);
      for (Pause pause : all) {
        byScope.computeIfAbsent(pause.scope(), scope -> new HashMap<>()).put(pause.name(), pause);
      }
      this.ofAll = of(Scope.ALL, "");
    }

    private @Nullable Pause of(Scope scope, String name) {
      return of(scope).get(name);
    }

    private Map<String, Pause> of(Scope scope) {
      return byScope.getOrDefault(scope, Map.of());
    }

    /** Each of them, by scope and name. */
    public List<Pause> all() {
      return all;
    }

    /** Why no writer claims anything of a slot; null when that is not paused. */
    public @Nullable Pause ofSlot(int slot) {
      return ofAll != null || byScope.isEmpty() ? ofAll : of(Scope.SLOT, Integer.toString(slot));
    }

    /** Why a writer claims nothing at all; null when that is not paused. */
    public @Nullable Pause ofWriter(String name) {
      return ofAll != null ? ofAll : of(Scope.WRITER, name);
    }

    /** Tables whose rows stay in Redis. */
    public Set<String> tables() {
      return Set.copyOf(of(Scope.TABLE).keySet());
    }

    /**
     * Whether rows of some owners are held back and those of others written: what those refer to
     * may be among what is held back.
     */
    public boolean holdSomeBack() {
      return !of(Scope.SLOT).isEmpty() || !of(Scope.TABLE).isEmpty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Pauses of && of.all.equals(all);
    }

    @Override
    public int hashCode() {
      return all.hashCode();
    }

    @Override
    public String toString() {
      return all.toString();
    }
  }
}
