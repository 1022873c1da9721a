package io.gameq.servers;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedServerException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * With {@code GAMEQ_TEST_SERVERS=none} a test that asks for a server is skipped, so that the others
 * run alone, in seconds. So is one that starts a server of its own where no program of it runs.
 * Found as a service, in each module's tests.
 */
public final class WithoutServers implements ExecutionCondition, InvocationInterceptor {
  private static final boolean SKIPS =
      ServerKind.asked() == ServerKind.NONE || !EmbeddedMariaDb.isForThisPlatform();
  private static final Namespace HERE = Namespace.create(WithoutServers.class);
  private static final String SKIPPED = "skipped";
  private static final String REASON =
      "GAMEQ_TEST_SERVERS=none, or no embedded server for this platform: this test needs one";

  /** A class whose static fields start servers is skipped as a whole. */
  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (SKIPS && context.getTestMethod().isEmpty() && context.getTestClass().isPresent()) {
      Class<?> test = context.getRequiredTestClass();
      try {
        Class<?> initialized = Class.forName(test.getName(), true, test.getClassLoader());
        return ConditionEvaluationResult.enabled(initialized + " needs no server so far");
      } catch (ClassNotFoundException | LinkageError e) {
        if (needsServer(e)) {
          return ConditionEvaluationResult.disabled(REASON);
        }
      }
    }
    return ConditionEvaluationResult.enabled("servers are started where they are needed");
  }

  @Override
  public <T> T interceptTestClassConstructor(
      Invocation<T> invocation,
      ReflectiveInvocationContext<Constructor<T>> of,
      ExtensionContext context)
      throws Throwable {
    return orSkip(invocation, context);
  }

  @Override
  public void interceptBeforeAllMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  @Override
  public void interceptBeforeEachMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  @Override
  public void interceptTestMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  @Override
  public <T> T interceptTestFactoryMethod(
      Invocation<T> invocation, ReflectiveInvocationContext<Method> of, ExtensionContext context)
      throws Throwable {
    return orSkip(invocation, context);
  }

  @Override
  public void interceptAfterEachMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  @Override
  public void interceptAfterAllMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> of,
      ExtensionContext context)
      throws Throwable {
    orSkip(invocation, context);
  }

  private static <T> T orSkip(Invocation<T> invocation, ExtensionContext context) throws Throwable {
    try {
      return invocation.proceed();
    } catch (Throwable e) {
      ExtensionContext.Store store = context.getStore(HERE);
      // What closes them afterwards fails, too.
      if (SKIPS && (needsServer(e) || store.get(SKIPPED) != null)) {
        store.put(SKIPPED, true);
        return Assumptions.abort(REASON);
      }
      throw e;
    }
  }

  /** A class whose fields start servers cannot be initialized: later errors tell that as text. */
  private static boolean needsServer(Throwable e) {
    for (Throwable at = e; at != null; at = at.getCause()) {
      if (String.valueOf(at.getMessage()).contains(EmbeddedServerException.class.getName())
          || at instanceof EmbeddedServerException) {
        return true;
      }
    }
    return false;
  }
}
