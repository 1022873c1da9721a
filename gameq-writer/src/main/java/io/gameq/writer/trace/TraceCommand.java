package io.gameq.writer.trace;

import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.process.Processes;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trace}: where an owner or a row is, and what will happen next. */
@Command(
    name = "trace",
    description =
        "Shows where an owner or a row is on the way from the game to MySQL, in Redis and in MySQL"
            + " side by side, and what will happen next; changes nothing.",
    footer = {
      "",
      "  gameq-writer trace player:42       an owner, as the game writes it",
      "  gameq-writer trace item 42,3       a row: its table, and its key as other commands show"
          + " it",
      "",
      "Ends with 1 when there is something to act on, or nobody knows the owner or row."
    })
public final class TraceCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(
      arity = "1..2",
      paramLabel = "OWNER | TABLE KEY",
      description = "An owner: player:42. Or a table and a primary key: item 42,3.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object on one line, nothing else.")
  private boolean json;

  @Option(
      names = "--values",
      description = "Of a row, show the values of its columns; that is noted in the audit log.")
  private boolean values;

  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description =
          "Of a row, look among the changes of this owner as well; needed where neither the key nor"
              + " MySQL tells whose row it is.")
  private List<String> owners = new ArrayList<>();

  @Option(
      names = "--wal",
      paramLabel = "DIRECTORY",
      description = "Look into these logs of nodes as well, or those that are in it.")
  private List<Path> wals = new ArrayList<>();

  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    boolean ofRow = names.size() == 2;
    if (!ofRow && (values || !owners.isEmpty())) {
      throw new CommandLine.ParameterException(
          self.commandLine(), "--values and --owner are for a row: give a table and a key");
    }
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    Slots slots = new Slots(settings.namespace(), settings.slots());
    PrintWriter out = self.commandLine().getOut();
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector);
        Database mysql = new Database(settings.mysql())) {
      Tracing tracing =
          new Tracing(
              settings.namespace(),
              slots,
              redis,
              mysql,
              () -> redis.ask(of -> Processes.of(of, settings.namespace())).parked());
      WhatNext next =
          ofRow
              ? row(new RowTracing(tracing, slots, redis, mysql.get()), mysql.get(), out)
              : owner(tracing, out);
      out.flush();
      return next.kind().isToAct() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
    }
  }

  private WhatNext owner(Tracing tracing, PrintWriter out) {
    OwnerId owner = OwnerId.of(names.get(0));
    List<WalSearch.InWal> inWals = wals.isEmpty() ? List.of() : WalSearch.owner(wals, owner);
    OwnerTrace trace = tracing.owner(owner);
    if (json) {
      out.println(TraceJson.of(trace, inWals));
    } else {
      OwnerPage.print(trace, inWals, out);
    }
    return WhatNext.of(trace);
  }

  private WhatNext row(RowTracing tracing, MySql mysql, PrintWriter out) {
    String table = names.get(0);
    String key = names.get(1);
    String rowKey = RowTracing.rowKey(table, key);
    List<WalSearch.Found> inWals = wals.isEmpty() ? List.of() : WalSearch.row(wals, rowKey);
    if (values) {
      AuditTable.add(
          mysql, TopCommand.actor(Objects.requireNonNull(spec)), "show values", rowKey, "trace");
    }
    RowTrace trace = tracing.row(table, key, owners.stream().map(OwnerId::of).toList(), inWals);
    if (json) {
      out.println(TraceJson.of(trace, values));
    } else {
      RowPage.print(trace, values, out);
    }
    return trace.next();
  }

  /** Opened when it is first asked for: it may be away. */
  private static final class Database implements Supplier<MySql>, AutoCloseable {
    private final MySqlConfig config;
    private @Nullable MySql open;

    Database(MySqlConfig config) {
      this.config = config;
    }

    @Override
    public MySql get() {
      if (open == null) {
        open = CommandDatabase.open(config, "trace");
      }
      return Objects.requireNonNull(open);
    }

    @Override
    public void close() {
      if (open != null) {
        open.close();
      }
    }
  }
}
