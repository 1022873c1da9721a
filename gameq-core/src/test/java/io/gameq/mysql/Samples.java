package io.gameq.mysql;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A column type, its extreme values, and a generator of others.
 *
 * @param random any value that the column takes
 */
public record Samples(
    String type, List<Object> extremes, Function<Random, @Nullable Object> random) {
  private static final String DRAGON = "\uD83D\uDC09";
  private static final BigInteger MAX_64 = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  public static List<Samples> all() {
    List<Samples> all = new ArrayList<>();
    numbers(all);
    texts(all);
    bytes(all);
    times(all);
    return all;
  }

  private static void numbers(List<Samples> all) {
    all.add(integers("tinyint", -128, 127));
    all.add(integers("tinyint(1)", -128, 127));
    all.add(integers("tinyint unsigned", 0, 255));
    all.add(integers("smallint", -32768, 32767));
    all.add(integers("smallint unsigned", 0, 65535));
    all.add(integers("mediumint", -8388608, 8388607));
    all.add(integers("mediumint unsigned", 0, 16777215));
    all.add(integers("int", Integer.MIN_VALUE, Integer.MAX_VALUE));
    all.add(integers("int unsigned", 0, 4294967295L));
    all.add(new Samples("bigint", List.of(Long.MIN_VALUE, Long.MAX_VALUE), Random::nextLong));
    all.add(new Samples("year", List.of(0, 1901, 2155), r -> 1901 + r.nextInt(255)));
    all.add(new Samples("bigint unsigned", List.of(0, MAX_64), r -> new BigInteger(64, r)));
    all.add(new Samples("bit(1)", List.of(true, false), Random::nextBoolean));
    all.add(new Samples("bit(17)", List.of(0, (1 << 17) - 1), r -> new BigInteger(17, r)));
    all.add(new Samples("bit(64)", List.of(0, 48, MAX_64), r -> new BigInteger(64, r)));
    BigDecimal widest = new BigDecimal("9".repeat(35) + "." + "9".repeat(30));
    all.add(
        new Samples(
            "decimal(65,30)",
            List.of(widest, widest.negate(), BigDecimal.ZERO, new BigDecimal("1E-30")),
            r -> new BigDecimal(new BigInteger(200, r), 30).subtract(BigDecimal.TEN)));
    all.add(
        new Samples(
            "decimal(5,0) unsigned",
            List.of(0, 99999),
            r -> BigDecimal.valueOf(r.nextInt(100000))));
    all.add(
        new Samples(
            "float",
            List.of(
                Float.MAX_VALUE,
                -Float.MAX_VALUE,
                Float.MIN_VALUE,
                Float.MIN_NORMAL,
                0f,
                -0f,
                0.1f),
            Samples::anyFloat));
    all.add(
        new Samples(
            "double",
            List.of(
                Double.MAX_VALUE,
                -Double.MAX_VALUE,
                Double.MIN_VALUE,
                Double.MIN_NORMAL,
                0.0,
                -0.0,
                0.1),
            Samples::anyDouble));
  }

  private static Samples integers(String type, long min, long max) {
    return new Samples(
        type, List.of(min, max, 0L), r -> min + (long) (r.nextDouble() * (max - min)));
  }

  private static Object anyFloat(Random random) {
    float value = Float.intBitsToFloat(random.nextInt());
    return Float.isFinite(value) ? value : anyFloat(random);
  }

  private static Object anyDouble(Random random) {
    double value = Double.longBitsToDouble(random.nextLong());
    return Double.isFinite(value) ? value : anyDouble(random);
  }

  private static void texts(List<Samples> all) {
    List<Object> awkward =
        List.of("", " ", "a ", "\0", "a\0b", "'\"\\%_`", "\\0", "\r\n\t\u001a", "?", "--", "null");
    for (String type : List.of("char(20)", "varchar(20)", "tinytext", "text", "longtext")) {
      List<Object> extremes = new ArrayList<>(awkward);
      extremes.addAll(List.of(DRAGON.repeat(20), "漢字", "é", "\uFEFFx", "\uFFFF"));
      all.add(new Samples(type, extremes, r -> text(r, 0x10FFFF)));
      all.add(new Samples(type + " character set utf8mb3", awkward, r -> text(r, 0xFFFF)));
      all.add(new Samples(type + " character set ascii", awkward, r -> text(r, 0x7F)));
      List<Object> western = new ArrayList<>(awkward);
      western.add("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—");
      western.add("˜™š›œžŸ");
      all.add(new Samples(type + " character set latin1", western, r -> latin1(r)));
    }
    all.add(
        new Samples(
            "mediumtext",
            List.of("x".repeat(1 << 20), DRAGON.repeat(1 << 18)),
            r -> text(r, 0x10FFFF)));
    all.add(
        new Samples(
            "enum('', 'a b', 'it''s', 'c\\\\d', 'é,漢')",
            List.of("", "a b", "it's", "c\\d", "é,漢"),
            r -> "a b"));
    all.add(
        new Samples(
            "set('a', 'b c', 'd''e', 'é')", List.of("", "a", "a,b c,d'e,é", "é,a"), r -> "d'e"));
    all.add(new Samples("json", List.of(), RandomJson::numbers));
    all.add(new Samples("json", List.of("null", "{}", "[]", "\"\""), RandomJson::document));
  }

  private static String text(Random random, int maxCodePoint) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(21);
    while (length > 0) {
      int codePoint = random.nextInt(random.nextBoolean() ? 128 : maxCodePoint + 1);
      if (codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE) {
        text.appendCodePoint(codePoint);
        length--;
      }
    }
    return text.toString();
  }

  private static String latin1(Random random) {
    byte[] bytes = new byte[random.nextInt(21)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (random.nextBoolean() ? random.nextInt(128) : 0xA0 + random.nextInt(96));
    }
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static void bytes(List<Samples> all) {
    byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    List<Object> short20 =
        List.of(
            new byte[0],
            new byte[20],
            new byte[] {0, 39, 92, 0},
            " ".getBytes(StandardCharsets.US_ASCII));
    all.add(new Samples("binary(20)", short20, r -> anyBytes(r, 20)));
    all.add(new Samples("varbinary(20)", short20, r -> anyBytes(r, 20)));
    all.add(new Samples("tinyblob", short20, r -> anyBytes(r, 255)));
    all.add(new Samples("blob", List.of(new byte[0], every), r -> anyBytes(r, 1000)));
    all.add(
        new Samples(
            "longblob",
            List.of(new byte[0], anyBytes(new Random(1), 1 << 20)),
            r -> anyBytes(r, 5000)));
  }

  private static byte[] anyBytes(Random random, int max) {
    byte[] bytes = new byte[max > 100_000 ? max : random.nextInt(max + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void times(List<Samples> all) {
    all.add(
        new Samples(
            "date",
            List.of(LocalDate.of(1, 1, 1), LocalDate.of(1582, 10, 10), LocalDate.of(9999, 12, 31)),
            r -> LocalDate.ofEpochDay(r.nextInt(2_900_000))));
    for (int digits : new int[] {0, 1, 3, 6}) {
      int unit = (int) Math.pow(10, 9 - digits);
      int last = 1_000_000_000 - unit;
      LocalDateTime end = LocalDateTime.of(9999, 12, 31, 23, 59, 59, last);
      all.add(
          new Samples(
              "datetime(" + digits + ")",
              List.of(LocalDateTime.of(1, 1, 1, 0, 0), end, LocalDateTime.of(2026, 3, 29, 2, 30)),
              r ->
                  LocalDateTime.ofEpochSecond(
                      (long) (r.nextDouble() * 250e9), fraction(r, unit), ZoneOffset.UTC)));
      all.add(
          new Samples(
              "timestamp(" + digits + ")",
              List.of(Instant.ofEpochSecond(1), Instant.ofEpochSecond(Integer.MAX_VALUE, last)),
              r -> Instant.ofEpochSecond(1L + r.nextInt(Integer.MAX_VALUE), fraction(r, unit))));
      Duration max = Duration.ofSeconds(838 * 3600 + 59 * 60 + 59);
      all.add(
          new Samples(
              "time(" + digits + ")",
              List.of(
                  max, max.negated(), Duration.ZERO, Duration.ofSeconds(-1, last == 0 ? 0 : unit)),
              r -> Duration.ofSeconds(r.nextInt(6_000_000) - 3_000_000, fraction(r, unit))));
    }
  }

  private static int fraction(Random random, int unit) {
    return unit == 1_000_000_000 ? 0 : random.nextInt(1_000_000_000 / unit) * unit;
  }
}
