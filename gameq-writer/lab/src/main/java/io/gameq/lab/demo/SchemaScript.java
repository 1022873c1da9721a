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
          "'(?:[^'\\\\]++|\\\\.|'')*+'|\"((?:[^\"\\\\]++|\\\\.|\"\")*+)\"|`((?:[^`]|``)*+)`"
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

  private static final Set<String> PROGRAMS = Set.of("TRIGGER", "FUNCTION", "PROCEDURE", "EVENT");

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

  /** A dump keeps what it restores out of the binary log, and says what a replica has. */
  private static final Set<String> OF_REPLICATION = Set.of("SQL_LOG_BIN", "GTID_PURGED");

  /** The server of the demo may not have that user. */
  private static final Pattern DEFINER =
      Pattern.compile(
          "(?i)\\bDEFINER\\s*=\\s*(?:`[^`]*`|'[^']*'|\\w+)"
              + "(?:\\s*@\\s*(?:`[^`]*`|'[^']*'|[\\w.%-]+)|\\(\\))?");

  private static final Set<String> FOR_ALL =
      Set.of("GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD");

  private static final String HAS_A_DATABASE = "the demo has a database";

  private final Path file;
  private final Set<String> others = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
  private final Set<String> chosen = new TreeSet<>();
  private final Consumer<String> say;
  private final Choice choice;
  private int inserts;

  /**
   * What is to be left out.
   *
   * @param data INSERT and REPLACE
   * @param programs triggers, procedures, functions and events
   */
  record Choice(boolean data, boolean programs) {}

  private SchemaScript(Path file, List<String> others, Consumer<String> say, Choice choice) {
    this.file = file;
    this.others.addAll(others);
    this.say = say;
    this.choice = choice;
  }

  /**
   * The statements that may run.
   *
   * @param others names of the server's other databases
   * @param say is told what was left out
   * @throws GameQueueException that names file, line and remedy of the first that may not
   */
  static List<String> within(
      Path file,
      List<SqlScript.Statement> statements,
      List<String> others,
      Consumer<String> say,
      Choice leftOut) {
    SchemaScript script = new SchemaScript(file, others, say, leftOut);
    List<String> kept = new ArrayList<>();
    for (SqlScript.Statement statement : statements) {
      if (script.stays(statement)) {
        boolean creates = statement.sql().matches("(?is)[/*!M\\d\\s]*CREATE\\b.*");
        kept.add(creates ? DEFINER.matcher(statement.sql()).replaceFirst("") : statement.sql());
      }
    }
    if (script.inserts > 0) {
      say.accept(
          leftOut.data()
              ? "left out: %s statements that insert rows".formatted(script.inserts)
              : "with the rows of %s INSERT statements; --no-data leaves them out"
                  .formatted(script.inserts));
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

  /** Whether it is to run; false for what is left out. */
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
      return leftOut(statement, HAS_A_DATABASE);
    }
    if (!ALLOWED.contains(first)) {
      throw refused(statement, "is no statement that makes or fills tables: remove it");
    }
    if (first.equals("CREATE") || first.equals("ALTER") || first.equals("DROP")) {
      String what = what(tokens);
      if (!first.equals("DROP") && (what.equals("DATABASE") || what.equals("SCHEMA"))) {
        return leftOut(statement, HAS_A_DATABASE);
      }
      if (!WITHIN_A_DATABASE.contains(what)) {
        throw refused(statement, "changes more than a database's tables: remove it");
      }
    }
    if (first.equals("SET")) {
      if (tokens.stream().anyMatch(of -> OF_REPLICATION.contains(of.upper()))) {
        return leftOut(statement, "it is for replication");
      }
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
    if (first.equals("INSERT") || first.equals("REPLACE")) {
      inserts++;
      return !choice.data();
    }
    return !choice.programs()
        || !first.equals("CREATE")
        || !PROGRAMS.contains(what(tokens))
        || leftOut(statement, "gameq does not see what it writes, so the game is to do that");
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

  private boolean leftOut(SqlScript.Statement statement, String why) {
    say.accept("left out, since %s: %s".formatted(why, at(statement)));
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
