package io.gameq.lab.demo.generated;

import io.gameq.lab.mysql.SchemaFacts.ColumnFacts;
import io.gameq.rows.Table.Column;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Values that fit one column: mostly small ones, the limits now and then; immutable.
 *
 * <p>The declaration is read here, since a column's type checks values but does not tell its
 * limits.
 */
final class Values {
  /** No generated text or blob is longer, whatever the column would hold. */
  private static final int MOST_LENGTH = 2_000;

  private static final int USUAL_LENGTH = 24;

  /** One in so many values is a limit, is as long as can be, or is NULL. */
  private static final int RARE = 20;

  private static final Pattern MEMBER = Pattern.compile("'((?:[^']|'')*)'");
  private static final Pattern DECLARATION =
      Pattern.compile("([a-z]+)(?:\\((.*)\\))?(.*)", Pattern.DOTALL);

  private final Column column;
  private final boolean json;
  private final String name;
  private final String brackets;
  private final boolean unsigned;
  private final String charset;

  Values(ColumnFacts facts) {
    column = Objects.requireNonNull(facts.column(), facts.name());
    json = facts.json();
    Matcher declaration = DECLARATION.matcher(column.declaration());
    if (!declaration.matches()) {
      throw new IllegalArgumentException(column.declaration());
    }
    name = declaration.group(1).toLowerCase(Locale.ROOT);
    brackets = Objects.requireNonNullElse(declaration.group(2), "");
    String rest = declaration.group(3);
    unsigned = rest.contains("unsigned");
    charset = rest.substring(rest.lastIndexOf(' ') + 1);
  }

  Column column() {
    return column;
  }

  /** A random value, NULL now and then where the column takes it; canonical. */
  @Nullable Object any(Random random) {
    if (column.nullable() && random.nextInt(RARE) == 0) {
      return null;
    }
    return column.canonical(random(random));
  }

  /** True when {@link #unique} has a value for every number that a demo reaches. */
  boolean hasUnique() {
    return switch (kind()) {
      case "integer" -> !name.equals("tinyint") && !name.equals("smallint") && !name.equals("year");
      case "unsigned long" -> true;
      case "text" -> !json && length() >= 10;
      case "binary" -> length() >= 8;
      default -> false;
    };
  }

  /** A value for a number: another number gives another value, in any collation. */
  Object unique(long number) {
    Object value =
        switch (kind()) {
          case "integer", "unsigned long" -> number;
          case "binary" ->
              new BigInteger(1, BigInteger.valueOf(number | 1L << 40).toByteArray()).toByteArray();
          default -> "n" + number;
        };
    return Objects.requireNonNull(column.canonical(value));
  }

  /** One of the few values that tell rows of one owner apart, or null when there are none. */
  @Nullable Object small(int number) {
    return switch (kind()) {
      case "integer", "unsigned long" ->
          name.equals("year") ? column.canonical(1950 + number) : column.canonical(number);
      case "text" -> length() >= 3 ? column.canonical("k" + number) : null;
      case "binary" -> column.canonical(new byte[] {(byte) (number + 1)});
      case "enum" -> {
        List<String> members = members();
        yield members.get(number % members.size());
      }
      case "date" -> LocalDate.of(2000, 1, 1).plusDays(number);
      default -> null;
    };
  }

  /** The name of its family of types. */
  private String kind() {
    return switch (name) {
      case "tinyint", "smallint", "mediumint", "int", "year" -> "integer";
      case "bigint" -> unsigned ? "unsigned long" : "integer";
      case "char", "varchar", "tinytext", "text", "mediumtext", "longtext" -> "text";
      case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob" -> "binary";
      default -> name;
    };
  }

  private Object random(Random random) {
    boolean rare = random.nextInt(RARE) == 0;
    return switch (kind()) {
      case "integer" -> integer(random, rare);
      case "unsigned long" ->
          rare
              ? BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE)
              : BigInteger.valueOf(random.nextInt(10_000));
      case "bit" -> new BigInteger(bits(), random);
      case "decimal" -> decimal(random, rare);
      case "float" -> rare ? Float.MAX_VALUE : random.nextFloat() * 1_000;
      case "double" -> rare ? Double.MAX_VALUE : random.nextDouble() * 1_000;
      case "text" -> json ? json(random) : text(random, rare);
      case "json" -> json(random);
      case "binary" -> bytes(random, rare);
      case "enum" -> members().get(random.nextInt(members().size()));
      case "set" -> members().stream().filter(member -> random.nextBoolean()).toList();
      case "date" ->
          LocalDate.of(
              1 + random.nextInt(rare ? 9_999 : 2_100),
              1 + random.nextInt(12),
              1 + random.nextInt(28));
      case "datetime" ->
          LocalDateTime.of(
              2000 + random.nextInt(100),
              1 + random.nextInt(12),
              1 + random.nextInt(28),
              random.nextInt(24),
              random.nextInt(60),
              random.nextInt(60),
              fraction(random));
      case "timestamp" ->
          Instant.ofEpochSecond(1 + random.nextInt(Integer.MAX_VALUE - 1), fraction(random));
      case "time" ->
          Duration.ofSeconds(random.nextInt(2 * 3_000_000) - 3_000_000L, fraction(random));
      default -> throw new IllegalStateException(column.declaration());
    };
  }

  private Object integer(Random random, boolean rare) {
    if (name.equals("year")) {
      return 1901 + random.nextInt(255);
    }
    int bits =
        switch (name) {
          case "tinyint" -> 8;
          case "smallint" -> 16;
          case "mediumint" -> 24;
          case "int" -> 32;
          default -> 64;
        };
    if (!rare) {
      return random.nextInt(100);
    }
    BigInteger limit = BigInteger.ONE.shiftLeft(unsigned ? bits : bits - 1);
    return random.nextBoolean() || unsigned ? limit.subtract(BigInteger.ONE) : limit.negate();
  }

  private Object decimal(Random random, boolean rare) {
    String[] parts = brackets.split(",", 2);
    int precision = brackets.isEmpty() ? 10 : Integer.parseInt(parts[0].strip());
    int scale = parts.length < 2 ? 0 : Integer.parseInt(parts[1].strip());
    BigInteger limit = BigInteger.TEN.pow(precision).subtract(BigInteger.ONE);
    BigInteger digits = rare ? limit : BigInteger.valueOf(random.nextInt(100)).min(limit);
    return new BigDecimal(unsigned || random.nextBoolean() ? digits : digits.negate(), scale);
  }

  private String text(Random random, boolean rare) {
    int most = (int) Math.min(length(), rare ? MOST_LENGTH : USUAL_LENGTH);
    int bytes = charset.equals("utf8mb4") ? 4 : charset.equals("utf8mb3") ? 3 : 1;
    // TEXT counts bytes, VARCHAR characters.
    int characters = name.endsWith("text") && length() < 65_536 ? most / bytes : most;
    int[] alphabet = alphabet();
    StringBuilder out = new StringBuilder();
    int length = rare ? characters : random.nextInt(characters + 1);
    for (int i = 0; i < length; i++) {
      out.appendCodePoint(alphabet[random.nextInt(alphabet.length)]);
    }
    return out.toString();
  }

  /** Characters of every width that the column holds, and those that need escaping. */
  private int[] alphabet() {
    String plain = "abc XYZ019'\"\\%_\n;-`{}:";
    String more =
        switch (charset) {
          case "utf8mb4" -> plain + "\u00E9\u4E2D\uD83D\uDC09";
          case "utf8mb3" -> plain + "\u00E9\u4E2D";
          case "latin1" -> plain + "\u00E9\u20AC";
          default -> plain;
        };
    return more.codePoints().toArray();
  }

  private static String json(Random random) {
    return "{\"level\": %s, \"tags\": [\"a\", \"\u4E2D\"]}".formatted(random.nextInt(100));
  }

  private byte[] bytes(Random random, boolean rare) {
    int most = (int) Math.min(length(), rare ? MOST_LENGTH : USUAL_LENGTH);
    byte[] bytes = new byte[rare ? most : random.nextInt(most + 1)];
    random.nextBytes(bytes);
    if (bytes.length > 1) {
      bytes[random.nextInt(bytes.length)] = 0;
    }
    return bytes;
  }

  private int fraction(Random random) {
    int digits = brackets.isEmpty() ? 0 : Integer.parseInt(brackets);
    int unit = (int) Math.pow(10, 9 - digits);
    return digits == 0 ? 0 : random.nextInt((int) Math.pow(10, digits)) * unit;
  }

  private int bits() {
    return brackets.isEmpty() ? 1 : Integer.parseInt(brackets);
  }

  /** Characters or bytes that the column holds. */
  private long length() {
    if (!brackets.isEmpty()) {
      return Long.parseLong(brackets);
    }
    return switch (name) {
      case "char", "binary" -> 1;
      case "tinytext", "tinyblob" -> 255;
      case "text", "blob" -> 65_535;
      default -> 16_777_215;
    };
  }

  private List<String> members() {
    List<String> members = new ArrayList<>();
    Matcher member = MEMBER.matcher(brackets);
    while (member.find()) {
      members.add(member.group(1).replace("''", "'"));
    }
    return members;
  }
}
