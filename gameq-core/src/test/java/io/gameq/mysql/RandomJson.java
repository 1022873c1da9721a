package io.gameq.mysql;

import java.util.Random;

/** Random JSON documents, with every kind of number, escape and key order. */
final class RandomJson {
  private static final String[] STRINGS = {
    "\"\"",
    "\"a\"",
    "\"\\u00e9\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\"",
    "\"漢\uD83D\uDC09\"",
    "\"\\ud83d\\udc09\"",
    "\"zz\""
  };

  private RandomJson() {}

  static String document(Random random) {
    return value(random, 4);
  }

  /** Many numbers, most of them around where MySQL takes to an exponent. */
  static String numbers(Random random) {
    StringBuilder out = new StringBuilder("[0");
    for (int i = 0; i < 200; i++) {
      out.append(',').append(number(random));
    }
    return out.append(']').toString();
  }

  private static String value(Random random, int depth) {
    return switch (random.nextInt(depth > 0 ? 9 : 6)) {
      case 0 -> random.nextBoolean() ? "true" : "null";
      case 1 -> Long.toString(random.nextLong() >> random.nextInt(64));
      case 2 -> Long.toUnsignedString(random.nextLong());
      case 3, 4 -> number(random);
      case 5 -> STRINGS[random.nextInt(STRINGS.length)];
      case 6 -> array(random, depth);
      default -> object(random, depth);
    };
  }

  private static String number(Random random) {
    if (random.nextInt(4) > 0) {
      long digits = (long) (random.nextDouble() * Math.pow(10, 1 + random.nextInt(18)));
      return (random.nextBoolean() ? "-" : "") + digits + "E" + (random.nextInt(50) - 34);
    }
    double any = Double.longBitsToDouble(random.nextLong());
    return Double.isFinite(any) ? Double.toString(any) : "-1e-2";
  }

  private static String array(Random random, int depth) {
    StringBuilder out = new StringBuilder("[");
    int length = random.nextInt(4);
    for (int i = 0; i < length; i++) {
      out.append(i == 0 ? "" : " ,").append(value(random, depth - 1));
    }
    return out.append("]").toString();
  }

  private static String object(Random random, int depth) {
    StringBuilder out = new StringBuilder("{");
    int length = random.nextInt(5);
    for (int i = 0; i < length; i++) {
      out.append(i == 0 ? "" : ",").append(STRINGS[random.nextInt(STRINGS.length)]);
      out.append(": ").append(value(random, depth - 1));
    }
    return out.append("}").toString();
  }
}
