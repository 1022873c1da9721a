package io.gameq.writer.process;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code writers}: the writers, and whether there is something to act on. */
@Command(
    name = "writers",
    description =
        "Lists writers as they say of themselves every 3 s, also those that ended otherwise than in"
            + " order within the last hour; reads Redis only.",
    footer = {
      "",
      "What a writer that is gone had claimed, others take over; its rows are not lost.",
      "Ends with 1 when there is something to act on, which the last lines name."
    })
public final class WritersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      Processes all = redis.ask(connection -> Processes.of(connection, settings.namespace()));
      List<String> toDo = new ArrayList<>();
      if (all.writersThere() == 0) {
        toDo.add("no writer runs: nothing is written to MySQL");
      }
      all.writers().forEach(writer -> toDo.addAll(writer.toDo()));
      if (json) {
        all.writers().forEach(writer -> out.println(WritersPage.json(writer)));
      } else {
        WritersPage.print(all.writers(), out);
        toDo.forEach(out::println);
      }
      return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }
}
