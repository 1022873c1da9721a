package io.gameq.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.redis.script.LuaScript;
import io.gameq.rights.MySqlRights.Role;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The scripts of rights are whole; that they are enough, all other tests show. */
public class RightsTest {
  private static final Pattern LUA_WORD = Pattern.compile("'([A-Z]{3,})'");
  private static final Set<String> NO_COMMANDS =
      Set.of("COUNT", "LIMIT", "MAXLEN", "WITHSCORES", "WITHVALUES");
  private static final Pattern CREATED =
      Pattern.compile("CREATE TABLE (?:IF NOT EXISTS )?(gameq_[a-z_]+)");

  @Test
  void eachCommandOfAScriptIsAllowedToSomebody() throws Exception {
    assertSomebodyMay(scripts());
  }

  /** Fails where a script has a command that the rights give to nobody. */
  public static void assertSomebodyMay(List<String> scripts) {
    Set<String> missing = commands(scripts);
    RedisRights.script("g").forEach(line -> missing.removeAll(allowed(line)));
    assertEquals(Set.of(), missing, "in redis.acl");
  }

  /** Each of the three may put a commit there, whatever it meets: also what hardly ever runs. */
  @Test
  void nodesWritersAndRecoveryMayEachDoAllThatACommitDoes() throws Exception {
    Path slot = Path.of(Objects.requireNonNull(LuaScript.class.getResource("slot.lua")).toURI());
    List<String> ofCommits =
        Stream.of("slot", "inbox", "topic", "batches", "messages", "commit", "replay")
            .map(name -> read(slot.resolveSibling(name + ".lua")))
            .toList();
    for (Role role : List.of(Role.NODE, Role.WRITER, Role.RECOVERY)) {
      Set<String> missing = commands(ofCommits);
      String user = "ACL SETUSER " + RedisRights.user("g", role) + " ";
      RedisRights.script("g").stream()
          .filter(line -> line.startsWith(user))
          .forEach(line -> missing.removeAll(allowed(line)));
      assertEquals(Set.of(), missing, "of " + role + " in redis.acl");
    }
  }

  private static List<String> allowed(String line) {
    return List.of(line.split("[ +]+"));
  }

  private static Set<String> commands(List<String> scripts) {
    Set<String> commands = new TreeSet<>();
    for (String lua : scripts) {
      Matcher word = LUA_WORD.matcher(lua);
      while (word.find()) {
        if (!NO_COMMANDS.contains(word.group(1))) {
          commands.add(word.group(1).toLowerCase(Locale.ROOT));
        }
      }
    }
    return commands;
  }

  private static List<String> scripts() throws IOException, URISyntaxException {
    Path folder =
        Path.of(Objects.requireNonNull(LuaScript.class.getResource("slot.lua")).toURI())
            .resolveSibling("");
    List<String> scripts = new ArrayList<>();
    for (Path of : List.of(folder, folder.resolveSibling("topic"))) {
      try (Stream<Path> files = Files.list(of)) {
        files
            .filter(file -> file.toString().endsWith(".lua"))
            .map(RightsTest::read)
            .forEach(scripts::add);
      }
    }
    assertTrue(scripts.size() > 15, "scripts " + scripts.size());
    return scripts;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void eachOfGameqsTablesIsInTheScript() {
    String script = String.join("\n", MySqlRights.script("g", "db", List.of()));
    Set<String> missing = new TreeSet<>();
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      Matcher table = CREATED.matcher(String.join("\n", file.statements()));
      while (table.find()) {
        if (!script.contains("`db`." + table.group(1) + " TO")) {
          missing.add(table.group(1));
        }
      }
    }
    assertEquals(Set.of(), missing, "in mysql.sql");
  }

  @Test
  void namesAreQuotedAndUsersNamesFitTheirServers() {
    String namespace = "a-namespace-of-32-characters-xyz";
    List<String> script = MySqlRights.script(namespace, "a`b_c", List.of("t`1", "t2"));
    assertTrue(
        script.contains("GRANT SELECT ON `a``b_c`.`t``1` TO 'a-namespace-of-32-char_node'@'%';"),
        script::toString);
    assertTrue(script.stream().anyMatch(line -> line.contains("`a``b\\_c`.*")), script::toString);
    assertTrue(MySqlRights.user(namespace, Role.MIGRATION).length() <= 32);
    assertFalse(String.join("", script).contains("${user"));
    for (Role role : Role.values()) {
      assertEquals(MySqlRights.user("g", role), RedisRights.user("g", role));
    }
    assertTrue(
        RedisRights.script("mygame").stream()
            .anyMatch(
                line ->
                    line.startsWith(
                        "ACL SETUSER mygame_node reset resetchannels on #${NODE_SHA256}"
                            + " ~{mygame:* ~mygame:* &mygame:* +info ")),
        RedisRights.script("mygame")::toString);
  }
}
