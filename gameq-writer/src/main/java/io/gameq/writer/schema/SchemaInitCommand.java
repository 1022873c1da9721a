package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.schema.SchemaDraft;
import io.gameq.mysql.schema.TableFix;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.mysql.SchemaDatabase;
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

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--mysql",
      required = true,
      paramLabel = "URL",
      description = "The game's database: jdbc:mysql://host:port/database.")
  private String mysql = "";

  @Mixin private MySqlLogin login = new MySqlLogin();

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
      SchemaDraft draft = database.draft(ownerColumns);
      Map<TableSpec, String> unmended = unmended(database, draft);
      Path into = file;
      if (into == null) {
        new DraftYaml(out, head(config)).print(draft, unmended);
      } else {
        try (PrintWriter writer =
            new PrintWriter(Files.newBufferedWriter(into, StandardOpenOption.CREATE_NEW))) {
          new DraftYaml(writer, head(config)).print(draft, unmended);
          if (writer.checkError()) {
            throw new GameQueueException("%s cannot be written whole".formatted(into));
          }
        } catch (FileAlreadyExistsException e) {
          throw new GameQueueException(
              "there is a file %s: name another, or move it away".formatted(into), e);
        }
        out.printf(
            Locale.ROOT,
            "%s: %d tables, %d left out; look through it, then: schema check --config %1$s%n",
            into,
            draft.proposals().size() - unmended.size(),
            draft.left().size() + unmended.size());
      }
      return ExitCodes.OK;
    }
  }

  private static Map<TableSpec, String> unmended(SchemaDatabase database, SchemaDraft draft) {
    Map<TableSpec, String> unmended = new HashMap<>();
    for (TableFix fix :
        database.fixes(draft.proposals().stream().map(SchemaDraft.Proposal::table).toList())) {
      if (!fix.unmended().isEmpty()) {
        unmended.put(fix.table(), String.join("; ", fix.unmended()));
      }
    }
    return unmended;
  }

  private String user() {
    return Objects.requireNonNullElse(login.user, "root");
  }

  private List<String> head(MySqlConfig config) {
    Path of = login.passwordFile;
    return List.of(
        ("# Drafted by 'gameq-writer schema init' from database %s at %s; gameq.example.yaml has"
                + " all")
            .formatted(config.database(), config.address()),
        "# other settings.",
        "namespace: "
            + DraftYaml.text(namespace == null ? namespaceOf(config.database()) : namespace),
        "redis:",
        "  uri: " + DraftYaml.text(redis),
        "mysql:",
        "  url: " + DraftYaml.text(mysql),
        "  user: " + DraftYaml.text(user()),
        of == null
            ? "  password: ${" + MySqlLogin.PASSWORD_VARIABLE + "}"
            : "  passwordFile: " + DraftYaml.text(of.toString()));
  }

  private static String namespaceOf(String database) {
    String name = database.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
    return name.substring(0, Math.min(MOST_OF_NAMESPACE, name.length()));
  }
}
