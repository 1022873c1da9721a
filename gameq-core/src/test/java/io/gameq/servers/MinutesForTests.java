package io.gameq.servers;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * On a machine that is too slow for all tests, those that this JVM would begin later than so many
 * minutes after its first are skipped: {@code -Dgameq.test.minutes=10}. Without it all run. A class
 * of which a test failed is begun again whenever it is run again.
 */
public final class MinutesForTests implements ExecutionCondition, TestWatcher {
  private static final int MINUTES = Integer.getInteger("gameq.test.minutes", 0);

  private static final long BEGAN = System.nanoTime();

  private static final Set<Class<?>> FAILED = ConcurrentHashMap.newKeySet();

  @Override
  public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
    FAILED.add(context.getRequiredTestClass());
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    boolean again = context.getTestClass().filter(FAILED::contains).isPresent();
    return MINUTES == 0 || again || System.nanoTime() - BEGAN < TimeUnit.MINUTES.toNanos(MINUTES)
        ? ConditionEvaluationResult.enabled("there is time")
        : ConditionEvaluationResult.disabled(
            "left out: the %d minutes for tests are over (gameq.test.minutes)".formatted(MINUTES));
  }
}
