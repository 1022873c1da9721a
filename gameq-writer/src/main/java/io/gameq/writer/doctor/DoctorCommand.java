package io.gameq.writer.doctor;

import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotContents.Progress;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.doctor.Repair.Repaired;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code doctor}: finds what does not fit together in Redis, and mends it. */
@Command(
    name = "doctor",
    description =
        "Looks through all of a namespace in Redis for what does not fit together, such as rows"
            + " that nothing makes due, and mends it with --repair. Nodes and writers may work"
            + " meanwhile.",
    footer = {
      "",
      "What seems wrong is looked at again after some seconds, and counts when nobody has touched"
          + " it since. A repair deletes no row. Ends with 1 when something is left."
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private Confirmation confirmation = new Confirmation();
  @Mixin private RateOption rate = new RateOption();

  @Option(names = "--repair", description = "Mend what is found; that is noted in the audit log.")
  private boolean repair;

  @Option(names = "--json", description = "One JSON object for each finding on a line, no more.")
  private boolean json;

  @Option(
      names = "--again-after",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description =
          "How long after the first look the second is (default: 5, at least 1). Nodes give a sign"
              + " of life every 3 s.")
  private int againAfterSeconds;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, self);
    Slots slots = new Slots(settings.namespace(), settings.slots());
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      Doctor doctor =
          new Doctor(
              settings.namespace(),
              slots,
              redis,
              Duration.ofSeconds(Math.max(1, againAfterSeconds)),
              rate.perSecond());
      Consumer<Progress> progress = RateOption.progress(self.commandLine().getErr());
      Diagnosis found = doctor.examine(progress);
      Repaired repaired = new Repaired(Map.of(), found);
      if (repair && !found.findings().isEmpty()) {
        confirmation.require("Mend what can be of %s findings?".formatted(found.findings().size()));
        try (MySql mysql = CommandDatabase.open(settings.mysql(), "doctor")) {
          repaired =
              new Repair(settings.namespace(), slots, redis, mysql, doctor)
                  .run(found, Actor.here(), progress);
        }
      }
      if (json) {
        DoctorPage.json(repaired, out);
      } else {
        DoctorPage.print(repaired, repair, out);
      }
      return repaired.left().findings().isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }
}
