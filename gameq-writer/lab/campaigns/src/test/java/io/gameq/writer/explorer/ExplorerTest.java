package io.gameq.writer.explorer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ExplorerTest {
  private static final int FEWEST = 20_000;

  @Test
  void noInterleavingBreaksAnyRule() throws Exception {
    assertNoneBreaksAnyRule(Exploration.clean());
  }

  /** Takes minutes: with the campaigns. */
  @Test
  @Tag("campaign")
  void noneBreaksAnyAroundFailoversForeignRowsAndDeletesEither() throws Exception {
    assertNoneBreaksAnyRule(Exploration.clean(Scenarios.failovers()));
  }

  private static void assertNoneBreaksAnyRule(List<Exploration.Task> tasks) throws Exception {
    long began = System.nanoTime();
    List<Exploration> done = Exploration.all(tasks, ended -> System.out.println(ended.line()));
    BigInteger schedules =
        done.stream().map(e -> e.result().schedules()).reduce(BigInteger.ZERO, BigInteger::add);
    long states = done.stream().mapToLong(e -> e.result().states()).sum();
    long redis = done.stream().mapToLong(e -> e.result().redisSteps()).sum();
    long mysql = done.stream().mapToLong(e -> e.result().mysqlSteps()).sum();
    long violations = done.stream().filter(e -> e.result().violation() != null).count();
    System.out.println(
        Exploration.line(
            "explored: ",
            schedules,
            states,
            redis,
            mysql,
            violations,
            (System.nanoTime() - began) / 1_000_000_000.0));
    assertEquals(0, violations, () -> Exploration.violations(done));
    assertTrue(schedules.compareTo(BigInteger.valueOf(FEWEST)) >= 0);
    assertTrue(redis + mysql >= FEWEST, "steps");
  }
}
