package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.terminal.Confirmation;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code schema new-identity}: tells a clone from the database that it is a copy of. */
@Command(
    name = "new-identity",
    description =
        "Makes a clone another database than the one that it is a copy of, so that WALs of the one"
            + " are never replayed into the other.",
    footer = {
      "",
      "Run it in the clone, before nodes and writers start on it. A database that takes the place"
          + " of another keeps that one's identity: its WALs are to be replayed there. Where it has"
          + " none, as a backup of an older release, give it by --as."
    })
final class SchemaIdentityCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private Confirmation confirmation = new Confirmation();

  @Option(
      names = "--as",
      paramLabel = "ID",
      description = "The identity of the database whose place it takes (default: a new one).")
  private @Nullable String as;

  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    if (as != null && !as.matches("[0-9a-f]{32}")) {
      throw new GameQueueException("--as takes an identity: 32 hex digits, as errors show them");
    }
    WriterConfig settings = AgreedConfig.read(config, self);
    confirmation.require(
        "make %s at %s another database? WALs that were written for it are not replayed then"
            .formatted(settings.mysql().database(), settings.mysql().address()));
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "identity")) {
      String before = Settings.identity(mysql).database();
      String now = as == null ? UUID.randomUUID().toString().replace("-", "") : as;
      AuditTable.add(mysql, Actor.here(), "schema new-identity", "database", before + " -> " + now);
      Settings.identify(mysql, now);
      self.commandLine()
          .getOut()
          .println("this was database " + before + ", it is " + now + " now");
    }
    return ExitCodes.OK;
  }
}
