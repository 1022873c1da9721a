package io.gameq;

/**
 * An enum that an integer column holds by number: an enum class implements it, and the numbers are
 * part of the database. Not by {@code ordinal()}, which changes when a constant is put between
 * others.
 *
 * <pre>
 * enum Rarity implements NumberedEnum {
 *   COMMON(0), RARE(10), EPIC(20);
 *   private final int number;
 *   Rarity(int number) { this.number = number; }
 *   public int number() { return number; }
 * }
 * </pre>
 *
 * <p>In text and ENUM columns it is its name, as every enum. A number in MySQL that no constant has
 * is a {@link GameQueueException} when it is read as a record.
 */
public interface NumberedEnum {
  /** The number that the column holds: always the same, and another for each constant. */
  int number();
}
