package io.gameq.redis.script;

/**
 * Something in a slot that is not as it should be. Immutable; the same twice means that nobody has
 * touched it in between.
 *
 * @param kind as {@code ailments.lua} calls it
 * @param state in which it is, with the token of a claim; never a value of a row
 */
public record Symptom(Thing thing, String kind, String state) {
  /**
   * A thing in a slot, as {@code ailments.lua} names it.
   *
   * @param place such as {@code due}, {@code dirty} or {@code key}
   * @param more empty where the name is enough
   */
  public record Thing(int slot, String place, String name, String more) {
    /** For a person to read. */
    @Override
    public String toString() {
      return "slot %d, %s %s%s".formatted(slot, place, name, more.isEmpty() ? "" : " " + more);
    }
  }
}
