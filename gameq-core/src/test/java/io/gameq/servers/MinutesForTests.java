package io.gameq.servers;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * On a machine that is too slow for all tests, those that this JVM would begin later than so many
 * minutes after its first are skipped: {@code -Dgameq.test.minutes=10}. Without it all run.
 */
public final class MinutesForTests implements ExecutionCondition {
  private static final int MINUTES = Integer.getInteger("gameq.test.minutes", 0);

  private static final long BEGAN = System.nanoTime();

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return MINUTES == 0 || System.nanoTime() - BEGAN < TimeUnit.MINUTES.toNanos(MINUTES)
        ? ConditionEvaluationResult.enabled("there is time")
        : ConditionEvaluationResult.disabled(
            "left out: the %d minutes for tests are over (gameq.test.minutes)".formatted(MINUTES));
  }
}
