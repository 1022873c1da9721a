package io.gameq.writer.schema;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code schema}: the parent of the schema commands. */
@Command(
    name = "schema",
    description = "Prepares a database for gameq.",
    subcommands = {
      SchemaInitCommand.class,
      SchemaCheckCommand.class,
      SchemaMigrateCommand.class,
      SchemaDropColumnCommand.class,
      SchemaIdentityCommand.class
    })
public final class SchemaCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: init, check, migrate, drop-column or new-identity");
  }
}
