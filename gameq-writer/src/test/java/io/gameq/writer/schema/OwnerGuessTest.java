package io.gameq.writer.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.OwnerColumn;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Proposal;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.SkippedTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the guess says of schemas that are in use (owners.txt), beside what a person would say. */
class OwnerGuessTest {
  private static final Pattern COLUMN =
      Pattern.compile(
          "(?<name>\\w+):(?<type>[itl])(?<nullable>\\??)(?<key>(?:\\*(?<part>\\d?))?)"
              + "(?<unique>!?)(?<numbered>#?)(?:(?<refers>>>?)(?<parent>\\w+)\\.(?<column>\\w+))?");

  private static final Map<String, String> TYPES =
      Map.of("i", "int", "t", "varchar(60)", "l", "longtext");

  private final Map<String, String> expected = new TreeMap<>();
  private final Map<String, TableFacts> tables = new LinkedHashMap<>();
  private final List<ForeignKeyFacts> foreignKeys = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(strings = {"canary", "cosmic", "qbcore", "esx", "openrsc", "rathena"})
  void namesTheOwnerThatAPersonWould(String schema) {
    facts(schema, "").forEach(this::add);
    assertEquals(expected, guessed(guess()));
  }

  @Test
  void looksPastThePrefixThatAllTablesHave() {
    facts("openrsc", "openrsc_").forEach(this::add);
    assertEquals(expected, guessed(guess()));
  }

  @Test
  void saysWhatSpokeForAColumnThatMayBeNull() {
    facts("qbcore", "").forEach(this::add);
    Proposal mails = proposal("player_mails");
    assertTrue(mails.reason().contains("named as the key of players"), mails::reason);
    assertTrue(mails.reason().contains("may be NULL"), mails::reason);
  }

  @Test
  void saysThatATableLooksStatic() {
    facts("cosmic", "").forEach(this::add);
    SkippedTable items = left("shopitems");
    assertEquals(new TableSpec("shopitems", "shop", "shopid"), items.unsure());
    assertTrue(items.reason().contains("static, as it looks"), items::reason);
    assertEquals(new TableSpec("shops", "shop", "shopid"), left("shops").unsure());
  }

  @Test
  void givesATableToTheMoreSpecificOfTwo() {
    List.of(
            "accounts | account.id | id:i*#",
            "ban | account.account_id | id:i*# account_id:i",
            "vote | account.account_id | id:i*# account_id:i",
            "characters | character.id | id:i*# account_id:i",
            "item | character.character_id | id:i*# account_id:i? character_id:i?")
        .forEach(this::add);
    assertEquals(expected, guessed(guess()));
  }

  @Test
  void whatAPersonHasOfAStaticThingIsThePersons() {
    List.of(
            "players | player.id | id:i*#",
            "quests | - | id:i*# name:t",
            "quest_log | player.player_id | id:i*# quest_id:i player_id:i",
            "quest_step | - | id:i*# quest_id:i")
        .forEach(this::add);
    assertEquals(expected, guessed(guess()));
  }

  @Test
  void withoutPlayersEachTableThatOthersBelongToIsOfOwners() {
    List.of("realm | realm.id | id:i*#", "realm_tile | realm.realm_id | realm_id:i*1 x:i*2")
        .forEach(this::add);
    assertEquals(expected, guessed(guess()));
    assertEquals(List.of(new OwnerColumn("realm", "realm", "id")), guess().owners());
  }

  private OwnerGuess guess() {
    return OwnerGuess.of(
        new SchemaSnapshot("database 'game'", true, false, tables, foreignKeys), List.of());
  }

  private Proposal proposal(String table) {
    return guess().proposals().stream()
        .filter(of -> of.table().name().equals(table))
        .findFirst()
        .orElseThrow();
  }

  private SkippedTable left(String table) {
    return guess().left().stream().filter(of -> of.table().equals(table)).findFirst().orElseThrow();
  }

  private static Map<String, String> guessed(OwnerGuess guess) {
    Map<String, String> guessed = new TreeMap<>();
    guess.left().forEach(of -> guessed.put(of.table(), "-"));
    for (Proposal of : guess.proposals()) {
      TableSpec table = of.table();
      guessed.put(table.name(), table.ownerKind() + "." + table.ownerColumn());
    }
    return guessed;
  }

  /** The lines of a schema, its tables named with a prefix. */
  private static List<String> facts(String schema, String prefix) {
    try (var in = OwnerGuessTest.class.getResourceAsStream("owners.txt")) {
      String all = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      String from = all.split("\n== " + schema + "\n", 2)[1];
      return from.split("\n\n", 2)[0].lines().map(line -> prefix + line).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void add(String line) {
    String[] parts = line.split("\\|", -1);
    String name = parts[0].strip();
    expected.put(name, parts[1].strip());
    List<ColumnFacts> columns = new ArrayList<>();
    Map<Integer, String> key = new TreeMap<>();
    List<IndexPart> indexes = new ArrayList<>();
    for (String text : parts[2].strip().split(" ", -1)) {
      Matcher of = COLUMN.matcher(text);
      if (text.isEmpty()) {
        continue;
      }
      assertTrue(of.matches(), () -> name + ": " + text);
      String column = of.group("name");
      boolean integer = of.group("type").equals("i");
      columns.add(
          new ColumnFacts(
              column,
              Objects.requireNonNull(TYPES.get(of.group("type"))),
              integer ? null : "utf8mb4",
              integer ? null : "utf8mb4_general_ci",
              !of.group("nullable").isEmpty(),
              null,
              of.group("numbered").isEmpty() ? "" : "auto_increment",
              false));
      if (!of.group("key").isEmpty()) {
        String part = of.group("part");
        key.put(part.isEmpty() ? 1 : Integer.parseInt(part), column);
      }
      if (!of.group("unique").isEmpty()) {
        indexes.add(new IndexPart(column, true, 1, column, false));
      }
      if (of.group("refers") != null) {
        foreignKeys.add(
            new ForeignKeyFacts(
                name + foreignKeys.size(),
                name,
                List.of(column),
                of.group("parent"),
                List.of(of.group("column")),
                of.group("refers").equals(">>") ? "CASCADE" : "RESTRICT",
                "RESTRICT"));
      }
    }
    key.forEach((part, column) -> indexes.add(new IndexPart("PRIMARY", true, part, column, false)));
    tables.put(name, new TableFacts(name, "BASE TABLE", "InnoDB", columns, indexes, List.of()));
  }
}
