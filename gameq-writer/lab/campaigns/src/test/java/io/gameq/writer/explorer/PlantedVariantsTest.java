package io.gameq.writer.explorer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Takes minutes: with the campaigns, {@code mvn -Pcampaign test}. */
@Tag("campaign")
class PlantedVariantsTest {
  @Test
  void everyRuleThatIsTakenOutIsMissed() throws Exception {
    long began = System.nanoTime();
    System.out.println("| rule taken out | cast | states until found | violation |");
    System.out.println("|---|---|---|---|");
    List<Exploration> done =
        Exploration.all(
            Exploration.chosen(PlantedVariants.all()), ended -> System.out.println(ended.row()));
    List<String> notCaught =
        done.stream()
            .filter(exploration -> exploration.result().violation() == null)
            .map(exploration -> exploration.plant().rule())
            .toList();
    System.out.printf(
        "planted: %d variants, %d caught, %.1f s%n",
        done.size(), done.size() - notCaught.size(), (System.nanoTime() - began) / 1e9);
    if (Boolean.getBoolean("gameq.explorer.paths")) {
      System.out.println(Exploration.violations(done));
    }
    assertEquals(List.of(), notCaught, "planted, but not caught");
  }

  @Test
  @EnabledIfSystemProperty(named = "gameq.explorer", matches = "full")
  void rulesThatAnotherRuleCoversAreNotMissedInTheseCasts() throws Exception {
    List<Exploration> done = Exploration.all(PlantedVariants.covered());
    assertEquals("", Exploration.violations(done));
  }
}
