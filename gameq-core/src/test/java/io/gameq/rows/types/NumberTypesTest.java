package io.gameq.rows.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.RowRefusedException;
import io.gameq.rows.TableBuilder;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberTypesTest {
  private static final BigInteger TWO_TO_64 = BigInteger.ONE.shiftLeft(64);

  @ParameterizedTest
  @CsvSource({
    "tinyint, -128, 127",
    "tinyint unsigned, 0, 255",
    "smallint(6), -32768, 32767",
    "smallint unsigned, 0, 65535",
    "mediumint, -8388608, 8388607",
    "mediumint unsigned, 0, 16777215",
    "int(11), -2147483648, 2147483647",
    "int(10) unsigned zerofill, 0, 4294967295",
    "bigint, -9223372036854775808, 9223372036854775807"
  })
  void holdsIntegersUpToTheLimitsOfTheType(String type, BigInteger min, BigInteger max) {
    assertEquals(min.longValueExact(), canonical(type, min));
    assertEquals(max.longValueExact(), canonical(type, new BigDecimal(max)));
    refuses(type, min.subtract(BigInteger.ONE));
    refuses(type, max.add(BigInteger.ONE));
  }

  @Test
  void makesEveryIntegralNumberALong() {
    assertEquals(7L, canonical("int", (byte) 7));
    assertEquals(7L, canonical("int", (short) 7));
    assertEquals(7L, canonical("int", 7));
    assertEquals(700L, canonical("int", new BigDecimal("7E+2")));
    assertEquals(7L, canonical("int", new BigDecimal("7.000")));
  }

  @Test
  void refusesFractionsAndOtherKindsInIntegers() {
    refuses("int", new BigDecimal("7.5"));
    refuses("int", 7.0);
    refuses("int", "7");
    refuses("int", new BigDecimal("1E+1000000000"));
    refuses("int", new BigDecimal("1E-1000000000"));
  }

  @Test
  void takesBooleansInTinyintAndBitOnly() {
    assertEquals(1L, canonical("tinyint(1)", true));
    assertEquals(BigInteger.ZERO, canonical("bit(1)", false));
    refuses("int", true);
  }

  @Test
  void holdsYearZeroAnd1901To2155() {
    assertEquals(0L, canonical("year", 0));
    assertEquals(1901L, canonical("year(4)", 1901));
    assertEquals(2155L, canonical("year", 2155));
    refuses("year", 1900);
    refuses("year", 2156);
    refuses("year", 1);
  }

  @Test
  void holdsSixtyFourBitsAsBigInteger() {
    BigInteger max = TWO_TO_64.subtract(BigInteger.ONE);
    assertEquals(max, canonical("bigint unsigned", max));
    assertEquals(max, canonical("bit(64)", max));
    assertEquals(BigInteger.valueOf(5), canonical("bigint(20) unsigned", 5));
    refuses("bigint unsigned", TWO_TO_64);
    refuses("bigint unsigned", -1);
    refuses("bit(3)", 8);
  }

  @Test
  void givesDecimalsTheScaleOfTheColumn() {
    assertEquals(new BigDecimal("12.30"), canonical("decimal(5,2)", new BigDecimal("12.3")));
    assertEquals(new BigDecimal("12.00"), canonical("decimal(5,2)", 12));
    assertEquals(new BigDecimal("12.30"), canonical("decimal(5,2)", new BigDecimal("12.3000")));
    assertEquals(new BigDecimal("0.00"), canonical("decimal(5,2)", new BigDecimal("0E+99")));
    assertEquals(new BigDecimal("-999.99"), canonical("decimal(5,2)", new BigDecimal("-999.99")));
  }

  @Test
  void refusesDecimalsThatMySqlWouldRoundOrCut() {
    refuses("decimal(5,2)", new BigDecimal("12.345"));
    refuses("decimal(5,2)", new BigDecimal("1000"));
    refuses("decimal(5,2)", 12.3);
    refuses("decimal(5,2) unsigned", new BigDecimal("-0.01"));
    refuses("decimal(65,30)", new BigDecimal("1E+1000000000"));
    refuses("decimal(65,30)", new BigDecimal("1E-1000000000"));
  }

  @Test
  void refusesDoublesThatAFloatWouldRound() {
    assertEquals(0.5f, canonical("float", 0.5));
    assertEquals(0.1f, canonical("float", 0.1f));
    assertEquals(-0.0f, canonical("float", -0.0));
    refuses("float", 0.1);
    refuses("float", 1e300);
    refuses("float", (1L << 24) + 1);
  }

  @Test
  void refusesNumbersThatAreNone() {
    refuses("float", Float.NaN);
    refuses("float", Float.POSITIVE_INFINITY);
    refuses("double", Double.NaN);
    refuses("double", Double.NEGATIVE_INFINITY);
    refuses("double unsigned", -1.0);
  }

  @Test
  void cannotManageFloatsWithDigits() {
    assertThrows(UnmanageableException.class, () -> ColumnTypes.parse("float(7,3)", null, null));
    assertThrows(UnmanageableException.class, () -> ColumnTypes.parse("double(7,3)", null, null));
    assertThrows(UnmanageableException.class, () -> ColumnTypes.parse("point", null, null));
    assertThrows(UnmanageableException.class, () -> ColumnTypes.parse("vector(3)", null, null));
  }

  @Test
  void namesColumnAndLimitButNeverTheValue() {
    RowRefusedException refusal = refuses("tinyint", 4711);
    String message = String.valueOf(refusal.getMessage());
    assertTrue(message.contains("t.c") && message.contains("127"), message);
    assertFalse(message.contains("4711"), message);
    refuses("time", Duration.ofHours(839));
  }

  private static Object canonical(String type, Object in) {
    return TableBuilder.canonical(type, null, in);
  }

  private static RowRefusedException refuses(String type, Object in) {
    return assertThrows(RowRefusedException.class, () -> canonical(type, in));
  }
}
