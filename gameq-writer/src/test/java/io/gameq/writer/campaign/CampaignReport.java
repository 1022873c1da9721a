package io.gameq.writer.campaign;

import io.gameq.writer.campaign.Violation.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The campaign's table, for people and for programs. Stateless. */
final class CampaignReport {
  private CampaignReport() {}

  static String markdown(List<CaseResult> results) {
    StringBuilder table =
        new StringBuilder(
            """
            | fault | seed | times injected | acknowledged changes | reads checked | lost | stale | resurrected | drained in s |
            |---|---|---|---|---|---|---|---|---|
            """);
    for (CaseResult r : results) {
      table.append(
          "| %s | %d | %d | %d | %d | %d | %d | %d | %.1f |%n"
              .formatted(
                  r.fault(),
                  r.seed(),
                  r.times(),
                  r.acknowledged(),
                  r.reads(),
                  r.count(Kind.LOST),
                  r.count(Kind.STALE),
                  r.count(Kind.RESURRECTED),
                  r.drainSeconds()));
    }
    return table.toString();
  }

  private static String json(List<CaseResult> results) {
    return results.stream()
        .map(
            r ->
                String.format(
                    Locale.ROOT,
                    "  {\"fault\": \"%s\", \"seed\": %d, \"times\": %d, \"acknowledged\": %d, \"reads\": %d, \"lost\": %d, \"stale\": %d, \"resurrected\": %d, \"drainSeconds\": %.2f}",
                    r.fault(),
                    r.seed(),
                    r.times(),
                    r.acknowledged(),
                    r.reads(),
                    r.count(Kind.LOST),
                    r.count(Kind.STALE),
                    r.count(Kind.RESURRECTED),
                    r.drainSeconds()))
        .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  /** Writes {@code campaign.md} and {@code campaign.json}. */
  static void write(Path directory, List<CaseResult> results) throws IOException {
    Files.writeString(directory.resolve("campaign.md"), markdown(results));
    Files.writeString(directory.resolve("campaign.json"), json(results));
  }
}
