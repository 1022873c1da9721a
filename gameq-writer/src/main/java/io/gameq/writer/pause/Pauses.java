package io.gameq.writer.pause;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All that is paused at a moment. Immutable.
 *
 * @param all by scope and name
 */
public record Pauses(List<WriterPause> all) {
  /** Nothing is paused. */
  public static final Pauses NONE = new Pauses(List.of());

  /** As long as gameq_pause has room. */
  private static final int MOST_REASON = 255;

  private static final int MOST_BY = 128;

  /**
   * Asks MySQL.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static Pauses read(MySql mysql) {
    return new Pauses(PauseTable.all(mysql));
  }

  /** The pause of this very thing, or null. */
  @Nullable WriterPause find(Scope scope, String name) {
    for (WriterPause pause : all) {
      if (pause.scope() == scope && pause.name().equals(name)) {
        return pause;
      }
    }
    return null;
  }

  /** Why no writer claims anything of a slot; null when that is not paused. */
  public @Nullable WriterPause ofSlot(int slot) {
    return all.isEmpty() ? null : orOfAll(Scope.SLOT, Integer.toString(slot));
  }

  /** Why a writer claims nothing at all; null when that is not paused. */
  public @Nullable WriterPause ofWriter(String name) {
    return orOfAll(Scope.WRITER, name);
  }

  private @Nullable WriterPause orOfAll(Scope scope, String name) {
    WriterPause ofAll = find(Scope.ALL, "");
    return ofAll != null ? ofAll : find(scope, name);
  }

  /** Tables whose rows stay in Redis. */
  public Set<String> tables() {
    return all.stream()
        .filter(pause -> pause.scope() == Scope.TABLE)
        .map(WriterPause::name)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Tables whose rows wait: those that are paused, and those that refer to them.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Set<String> heldTables(MySql mysql) {
    Set<String> paused = tables();
    return paused.isEmpty() ? paused : PausedTables.of(paused, CatalogReader.read(mysql)).waiting();
  }

  /**
   * Whether rows of some owners are held back and those of others written: what those refer to may
   * be among what is held back.
   */
  public boolean holdSomeBack() {
    return all.stream()
        .anyMatch(pause -> pause.scope() == Scope.SLOT || pause.scope() == Scope.TABLE);
  }

  /** A pause for programs. */
  public static Map<String, Object> json(WriterPause pause) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("scope", Shown.lower(pause.scope()));
    all.put("name", pause.name());
    all.put("reason", pause.reason());
    all.put("by", pause.by());
    all.put("at", pause.at().toString());
    return all;
  }

  /** {@code slot 3}, {@code table item}, {@code writer w1}; {@code everything}. */
  public static String what(WriterPause pause) {
    return pause.scope() == Scope.ALL
        ? "everything"
        : Shown.text(new PauseTarget(pause.scope(), pause.name()).toString());
  }

  /** {@code by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
  public static String why(WriterPause pause) {
    return "by %s since %s UTC: %s"
        .formatted(Shown.text(pause.by()), Shown.utc(pause.at()), Shown.text(pause.reason()));
  }

  /** {@code slot 3 is paused by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
  public static String line(WriterPause pause) {
    return "%s is paused %s".formatted(what(pause), why(pause));
  }

  /**
   * The reason of a pause, without spaces around it.
   *
   * @param what is paused
   * @throws GameQueueException when it is missing or longer than 255 characters
   */
  public static String reason(String reason, String what) {
    String why = reason.strip();
    require(!why.isEmpty(), "a reason is needed: others will ask why " + what + " waits");
    require(
        why.codePointCount(0, why.length()) <= MOST_REASON,
        "the reason is longer than %s characters".formatted(MOST_REASON));
    return why;
  }

  private static void require(boolean isSo, String otherwise) {
    if (!isSo) {
      throw new GameQueueException(otherwise);
    }
  }

  /**
   * What an operator pauses or resumes, by command line or console. Each action is written into the
   * audit log before it is done. Writers follow within about a second. Immutable.
   *
   * @param name slot number, table or writer; empty for {@link Scope#ALL}
   */
  public record PauseTarget(Scope scope, String name) {
    /**
     * Reads what the operator named.
     *
     * @param scope {@code all}, {@code slot}, {@code table} or {@code writer}
     * @param name empty for all
     * @throws GameQueueException when there is no such thing, or the name is missing or too many
     */
    public static PauseTarget of(String scope, String name) {
      Scope of =
          Arrays.stream(Scope.values())
              .filter(it -> it.name().equalsIgnoreCase(scope))
              .findFirst()
              .orElseThrow(
                  () ->
                      new GameQueueException(
                          "'%s' is nothing that can be paused: use all, slot, table or writer"
                              .formatted(scope)));
      String example =
          switch (of) {
            case ALL -> "";
            case SLOT -> "slot 3";
            case TABLE -> "table item";
            case WRITER -> "writer writer-1";
          };
      if (of == Scope.ALL) {
        require(name.isEmpty(), "'all' takes no name, not '%s'".formatted(name));
      } else {
        String kind = example.substring(0, example.indexOf(' '));
        require(!name.isEmpty(), "which %s? Name it: %s".formatted(kind, example));
      }
      if (of == Scope.SLOT) {
        require(name.matches("\\d{1,4}"), "'%s' is no slot: use its number".formatted(name));
        return new PauseTarget(of, Integer.toString(Integer.parseInt(name)));
      }
      require(
          of != Scope.WRITER || name.matches("[A-Za-z0-9._-]{1,64}"),
          "'%s' is no writer's name: those have 1 to 64 of A-Z a-z 0-9 . _ -".formatted(name));
      return new PauseTarget(of, name);
    }

    /**
     * Pauses it; of what is paused already reason and time change. Returns the pause.
     *
     * @param slots of the namespace
     * @param reason 1 to 255 characters
     * @throws GameQueueException when there is no such slot or table, or the reason is missing or
     *     too long
     * @throws io.gameq.MySqlException when MySQL does not answer
     */
    public WriterPause pause(MySql mysql, int slots, Actor actor, String reason) {
      String why = reason(reason, toString());
      require(
          scope != Scope.SLOT || Integer.parseInt(name) < slots,
          "there is no slot %s: this game has slots 0 to %s".formatted(name, slots - 1));
      if (scope == Scope.TABLE) {
        Catalog catalog = CatalogReader.read(mysql);
        if (!catalog.unmanaged().containsKey(name)) { // that is registered, too
          Object unused = catalog.table(name);
        }
      }
      AuditTable.add(mysql, actor, "pause", toString(), why);
      PauseTable.add(mysql, scope, name, why, cut(actor.who()));
      return find(mysql)
          .orElseThrow(() -> new GameQueueException(this + " was resumed by somebody else"));
    }

    /**
     * Resumes it; returns the pause that it ends, or nothing when there was none.
     *
     * @throws io.gameq.MySqlException when MySQL does not answer
     */
    public Optional<WriterPause> resume(MySql mysql, Actor actor) {
      Optional<WriterPause> pause = find(mysql);
      if (pause.isEmpty()) {
        return pause;
      }
      AuditTable.add(mysql, actor, "resume", toString(), "was paused " + why(pause.get()));
      return PauseTable.remove(mysql, scope, name) ? pause : Optional.empty();
    }

    private Optional<WriterPause> find(MySql mysql) {
      return Optional.ofNullable(read(mysql).find(scope, name));
    }

    private static String cut(String who) {
      return who.codePointCount(0, who.length()) <= MOST_BY
          ? who
          : who.substring(0, who.offsetByCodePoints(0, MOST_BY));
    }

    @Override
    public String toString() {
      return scope == Scope.ALL ? "all" : Shown.lower(scope) + " " + name;
    }
  }

  /**
   * Which rows stay in Redis while tables are paused: those of the tables, those of tables that
   * refer to them, whose parents may be among the former, and deletes in tables that they refer to,
   * whose children may be. Immutable.
   *
   * @param waiting tables of which all rows wait
   * @param keeping tables of which deletes wait
   */
  public record PausedTables(Set<String> waiting, Set<String> keeping) {
    /** By the foreign keys of a catalogue, however many steps they take. */
    public static PausedTables of(Collection<String> paused, Catalog catalog) {
      Set<String> waiting = new HashSet<>(paused);
      Set<String> keeping = new HashSet<>(paused);
      boolean more = !paused.isEmpty();
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
      return new PausedTables(Set.copyOf(waiting), Set.copyOf(keeping));
    }

    /** Whether such a row of a table waits. */
    public boolean holds(String table, RowOp op) {
      return waiting.contains(table) || (op == RowOp.DELETE && keeping.contains(table));
    }
  }
}
