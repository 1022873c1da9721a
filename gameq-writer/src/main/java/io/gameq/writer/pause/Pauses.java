package io.gameq.writer.pause;

import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All that is paused at a moment. Immutable. */
public final class Pauses {
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
   * Whether rows of some owners are held back and those of others written: what those refer to may
   * be among what is held back.
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
