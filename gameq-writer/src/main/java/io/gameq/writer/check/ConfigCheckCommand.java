package io.gameq.writer.check;

import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.check.Finding.Weight;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.EffectiveSettings;
import io.gameq.writer.config.EffectiveSettings.Setting;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
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

/** {@code config check}: the settings in effect, and whether a writer could run with them. */
@Command(
    name = "check",
    description =
        "Prints the settings in effect and where each is from, secrets masked, and checks whether"
            + " a writer can run with them; changes nothing.",
    footer = {
      "",
      "Ends with 2 when the file cannot be read or a setting is wrong, with 1 when a server, the"
          + " database or the user's rights are not as a writer needs them; warnings end with 0."
    })
final class ConfigCheckCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--offline", description = "Check the file alone: ask no server.")
  private boolean offline;

  @Option(names = "--json", description = "One JSON object a line, for settings and findings.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    EffectiveSettings effective = new EffectiveSettings();
    WriterConfig settings = config.read(effective);
    settings(out, effective.all());
    List<Finding> findings = offline ? List.of() : ServerFindings.of(settings);
    findings(out, findings);
    return findings.stream().anyMatch(of -> of.weight() == Weight.PROBLEM)
        ? ExitCodes.FOUND_SOMETHING
        : ExitCodes.OK;
  }

  private void settings(PrintWriter out, List<Setting> settings) {
    if (json) {
      settings.forEach(
          of -> json(out, "setting", of.name(), "value", of.value(), "from", of.origin()));
      return;
    }
    new TextTable(out, "SETTING", "VALUE", "FROM")
        .print(
            settings.stream()
                .map(
                    of ->
                        List.of(
                            of.name(),
                            Shown.text(Objects.requireNonNullElse(of.value(), "none")),
                            of.origin()))
                .toList());
    out.println();
  }

  private void findings(PrintWriter out, List<Finding> findings) {
    if (json) {
      findings.forEach(
          of -> json(out, "check", of.subject(), "weight", name(of.weight()), "text", of.text()));
      return;
    }
    if (offline) {
      out.println("the file is fit; no server was asked");
      return;
    }
    new TextTable(out, "CHECK", "", "")
        .print(
            findings.stream()
                .map(
                    of ->
                        List.of(Shown.text(of.subject()), name(of.weight()), Shown.text(of.text())))
                .toList());
  }

  private static void json(PrintWriter out, @Nullable String... namesAndValues) {
    Map<String, @Nullable String> object = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      object.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    out.println(JsonLine.of(object));
  }

  private static String name(Weight weight) {
    return weight.name().toLowerCase(Locale.ROOT);
  }
}
