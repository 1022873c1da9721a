package io.gameq.writer.pause;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.pause.PauseWatch.PauseText;
import io.gameq.writer.pause.Pausing.PauseTarget;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code resume}: ends a pause. */
@Command(
    name = "resume",
    description = "Ends a pause: writers go on with what waits, within about a second.",
    footer = {
      "",
      "Ends the pause that is named and no other: 'resume all' ends 'pause all', and what was"
          + " paused by itself stays paused. Ends with 1 when it was not paused."
    })
public final class ResumeCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(index = "0", paramLabel = "all|slot|table|writer", description = "What to resume.")
  private String scope = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NAME",
      description = "A slot's number, a table or a writer; none for all.")
  private String name = "";

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PauseTarget target = PauseTarget.of(scope, name);
    WriterConfig settings = AgreedConfig.read(config, Objects.requireNonNull(spec));
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "resume")) {
      Pausing pausing = new Pausing(mysql, settings.slots());
      Optional<Pause> ended = pausing.resume(Actor.here(), target);
      out.println(
          ended.isPresent()
              ? "resumed %s, which was paused %s"
                  .formatted(PauseText.what(ended.get()), PauseText.why(ended.get()))
              : "%s was not paused: nothing was done".formatted(Shown.text(target.toString())));
      pausing.all().all().forEach(pause -> out.println("still: " + PauseText.line(pause)));
      return ended.isPresent() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }
}
