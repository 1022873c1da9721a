package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.SchemaDatabase;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Proposal;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.SkippedTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code schema init}: drafts a configuration from a database, and changes nothing there. */
@Command(
    name = "init",
    description = {
      "Drafts a gameq.yaml from a database, to be looked through: which tables can be managed, the",
      "column that names the owner of each with the reason, and what is left out. Changes nothing."
    })
final class SchemaInitCommand implements Callable<Integer> {
  private static final int CONNECTIONS = 4;
  private static final int MOST_OF_NAMESPACE = 32;

  /** What YAML reads as something else than a text. */
  private static final Set<String> NO_TEXTS =
      Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null");

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--mysql",
      required = true,
      paramLabel = "URL",
      description = "The game's database: jdbc:mysql://host:port/database.")
  private String mysql = "";

  @Mixin private LoginOptions login = new LoginOptions();

  @Option(
      names = "--redis",
      paramLabel = "URI",
      defaultValue = "redis://127.0.0.1:6379",
      description = "For the file; it is not asked (default redis://127.0.0.1:6379).")
  private String redis = "";

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      description = "For the file (default: the name of the database).")
  private @Nullable String namespace;

  @Option(
      names = "--owner-column",
      paramLabel = "NAME",
      description = "A column that names owners; several times for several. Default: a guess.")
  private List<String> ownerColumns = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Where to write, if there is no such file (default: standard output).")
  private @Nullable Path file;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    MySqlConfig config = new MySqlConfig(mysql, user(), login.password(), CONNECTIONS, null);
    try (SchemaDatabase database = SchemaDatabase.open(config)) {
      SchemaDraft draft = OwnerGuess.draft(database, ownerColumns);
      List<TableSpec> tables = draft.proposals().stream().map(Proposal::table).toList();
      Map<TableSpec, String> unmended = new HashMap<>();
      for (TableFix fix : database.fixes(tables).tables()) {
        if (!fix.unmended().isEmpty()) {
          unmended.put(fix.table(), String.join("; ", fix.unmended()));
        }
      }
      Path into = file;
      if (into == null) {
        print(out, config, draft, unmended);
        return ExitCodes.OK;
      }
      try (PrintWriter writer =
          new PrintWriter(Files.newBufferedWriter(into, StandardOpenOption.CREATE_NEW))) {
        print(writer, config, draft, unmended);
        if (writer.checkError()) {
          throw new GameQueueException("%s cannot be written whole".formatted(into));
        }
      } catch (FileAlreadyExistsException e) {
        throw new GameQueueException(
            "there is a file %s: name another, or move it away".formatted(into), e);
      }
      out.println(
          Shown.line(
              "%s: %d tables, %d left out; look through it, then: schema check --config %1$s",
              into,
              draft.proposals().size() - unmended.size(),
              draft.left().size() + unmended.size()));
      return ExitCodes.OK;
    }
  }

  private String user() {
    return Objects.requireNonNullElse(login.user, "root");
  }

  /**
   * Prints a gameq.yaml.
   *
   * @param unmended why a table cannot be managed, where no statement mends that
   */
  private void print(
      PrintWriter out, MySqlConfig config, SchemaDraft draft, Map<TableSpec, String> unmended) {
    Path secret = login.passwordFile;
    out.println(
        ("# Drafted by 'gameq-writer schema init' from database %s at %s; gameq.example.yaml has"
                + " all")
            .formatted(config.database(), config.address()));
    out.println("# other settings.");
    out.println(
        "namespace: " + yaml(namespace == null ? namespaceOf(config.database()) : namespace));
    out.println("redis:");
    out.println("  uri: " + yaml(redis));
    out.println("mysql:");
    out.println("  url: " + yaml(mysql));
    out.println("  user: " + yaml(user()));
    out.println(
        secret == null
            ? "  password: ${" + LoginOptions.PASSWORD_VARIABLE + "}"
            : "  passwordFile: " + yaml(secret.toString()));
    out.println();
    out.println("# A row belongs to the owner that its ownerColumn names: a session of player:42");
    out.println("# has the rows with 42 in it. These are guesses, each with its reason: look");
    out.println(
        "# through them. '!' stands against a table: see 'schema check --fix-sql', '--fix'.");
    out.println("tables:" + (draft.proposals().isEmpty() ? " []" : ""));
    String kind = "";
    for (int i = 0; i < draft.proposals().size(); i++) {
      Proposal of = draft.proposals().get(i);
      if (!of.table().ownerKind().equals(kind)) {
        kind = of.table().ownerKind();
        out.println();
        comment(out, "owners: " + kind);
      }
      String problem = unmended.get(of.table());
      if (problem != null) {
        comment(out, "%s: cannot be managed, %s".formatted(entry(of.table()), problem));
        continue;
      }
      out.println("  %s  # %s".formatted(entry(of.table()), oneLine(of.reason())));
      of.others().forEach(other -> comment(out, "    or by " + other));
      TableInspection table = draft.tables().get(i);
      table.reasons().forEach(reason -> comment(out, "    ! " + reason));
      table
          .otherWriters()
          .forEach(writer -> comment(out, "    %s writes it past gameq".formatted(writer)));
    }
    if (!draft.left().isEmpty()) {
      out.println();
      comment(out, "Left out:");
    }
    for (SkippedTable of : draft.left()) {
      TableSpec unsure = of.unsure();
      comment(out, "%s: %s".formatted(unsure == null ? of.table() : entry(unsure), of.reason()));
    }
  }

  private static String namespaceOf(String database) {
    String name = database.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
    return name.substring(0, Math.min(MOST_OF_NAMESPACE, name.length()));
  }

  private static void comment(PrintWriter out, String text) {
    out.println("  # " + oneLine(text));
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\R", " ");
  }

  private static String entry(TableSpec table) {
    return "- { name: %s, owner: %s, ownerColumn: %s }"
        .formatted(yaml(table.name()), table.ownerKind(), yaml(table.ownerColumn()));
  }

  /** A text as YAML reads it. */
  private static String yaml(String text) {
    boolean isPlain = text.matches("[A-Za-z_][A-Za-z0-9_./:-]*");
    return isPlain && !NO_TEXTS.contains(text.toLowerCase(Locale.ROOT))
        ? text
        : "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  /** Who a schema command logs in as; mix it in. */
  static final class LoginOptions {
    static final String PASSWORD_VARIABLE = "GAMEQ_MYSQL_PASSWORD";

    @Option(
        names = "--mysql-user",
        paramLabel = "USER",
        description = "User of the database (default: the configuration's, of init root).")
    @Nullable String user;

    @Option(
        names = "--mysql-password-file",
        paramLabel = "FILE",
        description =
            "Holds the password of --mysql-user; else it is taken from " + PASSWORD_VARIABLE + ".")
    @Nullable Path passwordFile;

    Password password() {
      Path of = passwordFile;
      String secret = System.getenv(PASSWORD_VARIABLE);
      return of == null ? Password.of(secret == null ? "" : secret) : Password.ofFile(of);
    }

    /** The configuration's, with another login where one was given. */
    MySqlConfig of(MySqlConfig configured) {
      return user == null
          ? configured
          : new MySqlConfig(
              configured.url(), user, password(), configured.poolSize(), configured.tls());
    }
  }
}
