package io.gameq.rows.types;

import static io.gameq.rows.TableBuilder.canonical;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TextTypesTest {
  private static final String DRAGON = "\uD83D\uDC09";

  private enum Colour {
    RED,
    BLUE
  }

  @Test
  void countsCharactersOfVarcharAsCodePoints() {
    assertEquals(DRAGON.repeat(3), canonical("varchar(3)", "utf8mb4", DRAGON.repeat(3)));
    refuses("varchar(3)", "utf8mb4", DRAGON.repeat(4));
  }

  @Test
  void countsTextInBytesOfItsCharacterSet() {
    assertEquals("é".repeat(127), canonical("tinytext", "utf8mb4", "é".repeat(127)));
    assertEquals("é".repeat(255), canonical("tinytext", "latin1", "é".repeat(255)));
    refuses("tinytext", "utf8mb4", "é".repeat(128));
    refuses("tinytext", "utf8mb4", DRAGON.repeat(64));
  }

  @Test
  void stripsTrailingSpacesOfCharOnly() {
    assertEquals(" ab", canonical("char(3)", "utf8mb4", " ab   "));
    assertEquals(" ab ", canonical("varchar(4)", "utf8mb4", " ab "));
  }

  @Test
  void refusesFourByteCharactersInUtf8mb3() {
    assertEquals("漢", canonical("varchar(3)", "utf8mb3", "漢"));
    refuses("varchar(3)", "utf8mb3", DRAGON);
    refuses("varchar(3)", "utf8", DRAGON);
  }

  @Test
  void refusesWhatAsciiAndLatin1Lack() {
    assertEquals("a\0", canonical("varchar(3)", "ascii", "a\0"));
    refuses("varchar(3)", "ascii", "é");
    assertEquals("€ÿ", canonical("varchar(3)", "latin1", "€ÿ"));
    refuses("varchar(3)", "latin1", "\u0081");
    refuses("varchar(3)", "latin1", "\u0080");
    refuses("varchar(3)", "latin1", "漢");
  }

  @Test
  void refusesLoneSurrogates() {
    refuses("varchar(9)", "utf8mb4", "a\uD83D");
    refuses("varchar(9)", "utf8mb4", "\uDC09a");
  }

  @Test
  void cannotManageOtherCharacterSets() {
    assertThrows(
        UnmanageableException.class,
        () -> ColumnTypes.parse("varchar(9)", "gb18030", "gb18030_bin"));
  }

  @Test
  void takesEnumConstantsByName() {
    assertEquals("RED", canonical("varchar(3)", "utf8mb4", Colour.RED));
    assertEquals("BLUE", canonical("enum('RED','BLUE')", null, Colour.BLUE));
    assertEquals("RED", canonical("set('RED','BLUE')", null, Set.of(Colour.RED)));
  }

  @Test
  void readsQuotesAndBackslashesInMembers() {
    assertEquals("it's", canonical("enum('a,b','it''s','c\\\\d','x\\ny')", null, "it's"));
    assertEquals("c\\d", canonical("enum('a,b','it''s','c\\\\d','x\\ny')", null, "c\\d"));
    assertEquals("x\ny", canonical("enum('a,b','it''s','c\\\\d','x\\ny')", null, "x\ny"));
    assertEquals("a,b", canonical("enum('a,b','it''s')", null, "a,b"));
  }

  @Test
  void takesEnumMembersExactlyAsDefined() {
    refuses("enum('red','blue')", null, "RED");
    refuses("enum('red','blue')", null, "");
    refuses("enum('red','blue')", null, 1);
  }

  @Test
  void bringsSetMembersIntoTheirOrder() {
    assertEquals("a,b,d", canonical("set('a','b','c','d')", null, "d,a,b,a"));
    assertEquals("a,c", canonical("set('a','b','c','d')", null, List.of("c", "a")));
    assertEquals("", canonical("set('a','b')", null, ""));
    refuses("set('a','b')", null, "a,");
    refuses("set('a','b')", null, "c");
    refuses("set('a','b')", null, List.of(1));
  }

  @Test
  void padsBinaryAndCopiesTheArray() {
    byte[] in = {1, 2};
    assertArrayEquals(new byte[] {1, 2, 0}, (byte[]) canonical("binary(3)", null, in));
    Object out = canonical("varbinary(3)", null, in);
    assertArrayEquals(in, (byte[]) out);
    assertNotSame(in, out);
    refuses("varbinary(1)", null, in);
    refuses("tinyblob", null, new byte[256]);
  }

  @Test
  void refusesCaseInsensitiveKeysAndPrefixes() {
    assertNotNull(ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_0900_ai_ci").keyProblem());
    assertNotNull(ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_0900_as_cs").keyProblem());
    assertNull(ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_0900_bin").keyProblem());
    assertNotNull(ColumnTypes.parse("text", "utf8mb4", "utf8mb4_bin").keyProblem());
    assertNotNull(ColumnTypes.parse("blob", null, null).keyProblem());
    assertNotNull(ColumnTypes.parse("json", null, null).keyProblem());
    assertNotNull(ColumnTypes.parse("double", null, null).keyProblem());
  }

  @Test
  void refusesTrailingSpacesInKeysOfPaddingCollations() {
    ColumnType padding = ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_bin");
    assertThrows(RowRefusedException.class, () -> padding.keyText("Bob ", "t.c"));
    assertEquals(
        "Bob ",
        ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_0900_bin").keyText("Bob ", "t.c"));
    assertEquals(
        "Bob ",
        ColumnTypes.parse("varchar(9)", "utf8mb4", "utf8mb4_nopad_bin").keyText("Bob ", "t.c"));
  }

  @Test
  void neverSaysTheValue() {
    RowRefusedException refusal = refuses("varchar(3)", "utf8mb4", "secret");
    assertFalse(String.valueOf(refusal.getMessage()).contains("secret"));
    RowRefusedException json = refuses("json", null, "{\"secret\": secret}");
    assertFalse(String.valueOf(json.getMessage()).contains("secret"));
    assertNull(json.getCause());
  }

  private static RowRefusedException refuses(String type, @Nullable String charset, Object in) {
    return assertThrows(RowRefusedException.class, () -> canonical(type, charset, in));
  }
}
