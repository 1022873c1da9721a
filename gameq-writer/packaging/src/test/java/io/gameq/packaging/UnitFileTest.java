package io.gameq.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The systemd unit, by systemd's own tool where it is installed. */
class UnitFileTest {
  private static final String TOOL = "systemd-analyze";

  /** Settings that older releases of systemd do without, as the unit says. */
  private static final String NEWER = "Unknown key (name )?'Restart(Steps|MaxDelaySec)'.*";

  @TempDir Path directory;

  @Test
  void systemdFindsNothingWrong() throws Exception {
    assumeTrue(Archive.isInstalled(TOOL), TOOL + " is not on the PATH: the unit is not checked");
    String unit = Files.readString(Path.of("systemd/gameq-writer.service"));
    Path file =
        Files.writeString(
            directory.resolve("gameq-writer.service"),
            unit.replace("/opt/gameq/bin/gameq-writer", "/bin/sh")); // it has to be there
    Archive.Ended verify =
        Archive.run(Map.of(), List.of(TOOL, "verify", "--man=no", file.toString()));
    List<String> complaints =
        verify
            .said()
            .lines()
            .filter(line -> line.contains("gameq-writer"))
            .map(line -> line.replaceFirst("^\\S+: ", ""))
            .filter(line -> !line.matches(NEWER))
            .toList();
    assertEquals(List.of(), complaints, verify::said);
    assertEquals(0, verify.exitCode(), verify::said);
  }
}
