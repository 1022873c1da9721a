package io.gameq.lab.demo;

import io.gameq.GameQueueException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A schema file of somebody else, whose statements must stay within the demo's database. What only
 * chooses a database, as the head of a dump does, is left out; what leaves it is refused, before
 * anything has run. Names of other databases are known by asking the server; SQL that is put
 * together when it runs cannot be looked through, and is refused as well. Stateless.
 */
final class SchemaScript {
  /** Comments that the server runs, as {@code /*!40101}, are there without their marks. */
  private static final Pattern MARK = Pattern.compile("/\\*M?!\\d*|\\*/");

  /** A text is one token, so that nothing in it looks like a name. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "'(?:[^'\\\\]|\\\\.|'')*'|\"((?:[^\"\\\\]|\\\\.|\"\")*)\"|`((?:[^`]|``)*)`"
              + "|[\\p{L}\\p{N}_$@]+|\\S",
          Pattern.DOTALL);

  private static final Set<String> ALLOWED =
      Set.of(
          "ALTER",
          "ANALYZE",
          "BEGIN",
          "COMMIT",
          "CREATE",
          "DELETE",
          "DROP",
          "INSERT",
          "LOCK",
          "RENAME",
          "REPLACE",
          "ROLLBACK",
          "SELECT",
          "SET",
          "SHOW",
          "START",
          "TRUNCATE",
          "UNLOCK",
          "UPDATE",
          "WITH");

  /** Of CREATE, ALTER and DROP; what stands before these says how. */
  private static final Set<String> WITHIN_A_DATABASE =
      Set.of("TABLE", "INDEX", "VIEW", "TRIGGER", "FUNCTION", "PROCEDURE", "EVENT", "SEQUENCE");

  private static final Set<String> OF_THE_SERVER =
      Set.of(
          "DATABASE",
          "SCHEMA",
          "USER",
          "ROLE",
          "SERVER",
          "TABLESPACE",
          "LOGFILE",
          "UNDO",
          "RESOURCE",
          "INSTANCE");

  private static final Set<String> FOR_ALL =
      Set.of("GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD");

  private final Path file;
  private final Set<String> others = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
  private final Set<String> chosen = new TreeSet<>();
  private final Consumer<String> say;

  private SchemaScript(Path file, List<String> others, Consumer<String> say) {
    this.file = file;
    this.others.addAll(others);
    this.say = say;
  }

  /**
   * The statements that may run.
   *
   * @param others names of the server's other databases
   * @param say is told what was left out
   * @throws GameQueueException that names file, line and remedy of the first that may not
   */
  static List<String> within(
      Path file, List<SqlScript.Statement> statements, List<String> others, Consumer<String> say) {
    SchemaScript script = new SchemaScript(file, others, say);
    List<String> kept = new ArrayList<>();
    for (SqlScript.Statement statement : statements) {
      if (script.stays(statement)) {
        kept.add(statement.sql());
      }
    }
    return kept;
  }

  private record Token(String text, boolean isName) {
    boolean is(String word) {
      return text.equalsIgnoreCase(word);
    }

    String upper() {
      return text.toUpperCase(Locale.ROOT);
    }
  }

  /** Whether it is to run; false for what only chooses a database. */
  private boolean stays(SqlScript.Statement statement) {
    List<Token> tokens = tokens(statement.sql());
    if (tokens.isEmpty()) {
      return false;
    }
    String first = tokens.get(0).upper();
    if (first.equals("USE")) {
      chosen.add(tokens.get(tokens.size() - 1).text());
      if (chosen.size() > 1) {
        throw refused(statement, "uses a second database: give a file of one");
      }
      return leftOut(statement);
    }
    if (!ALLOWED.contains(first)) {
      throw refused(statement, "is no statement that makes or fills tables: remove it");
    }
    if (first.equals("CREATE") || first.equals("ALTER") || first.equals("DROP")) {
      String what = what(tokens);
      if (first.equals("CREATE") && (what.equals("DATABASE") || what.equals("SCHEMA"))) {
        return leftOut(statement);
      }
      if (!WITHIN_A_DATABASE.contains(what)) {
        throw refused(statement, "changes more than a database's tables: remove it");
      }
    }
    if (first.equals("SET")) {
      for (Token token : tokens) {
        if (FOR_ALL.contains(token.upper().replace("@@", ""))) {
          throw refused(statement, "sets something for the whole server: remove it");
        }
      }
    }
    for (int i = 0; i + 1 < tokens.size(); i++) {
      Token name = tokens.get(i);
      if (name.isName() && tokens.get(i + 1).is(".") && others.contains(name.text())) {
        throw refused(
            statement, "names the database '" + name.text() + "': remove it from the name");
      }
    }
    return true;
  }

  private static String what(List<Token> tokens) {
    return tokens.stream()
        .map(Token::upper)
        .filter(word -> WITHIN_A_DATABASE.contains(word) || OF_THE_SERVER.contains(word))
        .findFirst()
        .orElse("");
  }

  private static List<Token> tokens(String sql) {
    List<Token> tokens = new ArrayList<>();
    Matcher next = TOKEN.matcher(MARK.matcher(sql).replaceAll(" "));
    while (next.find()) {
      String quoted = next.group(1) == null ? next.group(2) : next.group(1);
      tokens.add(
          quoted == null
              ? new Token(next.group(), !next.group().startsWith("'"))
              : new Token(quoted.replace("``", "`"), true));
    }
    return tokens;
  }

  private boolean leftOut(SqlScript.Statement statement) {
    say.accept("left out, since the demo has a database: " + at(statement));
    return false;
  }

  private GameQueueException refused(SqlScript.Statement statement, String why) {
    return new GameQueueException(at(statement) + " " + why);
  }

  private String at(SqlScript.Statement statement) {
    String line = statement.sql().lines().findFirst().orElse("");
    return "%s, line %s, '%s'"
        .formatted(file, statement.line(), line.length() > 80 ? line.substring(0, 80) : line);
  }
}
