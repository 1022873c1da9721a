package io.gameq.lab.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The flags of every child's JVM, the same for all contenders. Stateless. */
final class ChildFlags {
  /** What Chronicle Queue needs, what Hazelcast asks for, and Ignite's list for Java 17. */
  private static final List<String> OPENS =
      List.of(
          "java.base/java.io",
          "java.base/java.lang",
          "java.base/java.lang.invoke",
          "java.base/java.lang.reflect",
          "java.base/java.math",
          "java.base/java.net",
          "java.base/java.nio",
          "java.base/java.text",
          "java.base/java.time",
          "java.base/java.util",
          "java.base/java.util.concurrent",
          "java.base/java.util.concurrent.atomic",
          "java.base/java.util.concurrent.locks",
          "java.base/jdk.internal.access",
          "java.base/jdk.internal.misc",
          "java.base/sun.nio.ch",
          "java.base/sun.reflect.generics.reflectiveObjects",
          "java.base/sun.util.calendar",
          "java.management/com.sun.jmx.mbeanserver",
          "java.management/sun.management",
          "java.sql/java.sql",
          "jdk.internal.jvmstat/sun.jvmstat.monitor",
          "jdk.management/com.sun.management.internal");

  private static final List<String> OTHERS =
      List.of(
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          // Warns of what is wanted here: one member alone.
          "-Dorg.slf4j.simpleLogger.log.com.hazelcast=error",
          "-XX:+UseG1GC");

  /**
   * Of the common pool: with one thread, as on two processors, Hazelcast and the JDK's futures
   * start a thread for each of their callbacks.
   */
  private static final int PARALLELISM =
      Math.max(2, Runtime.getRuntime().availableProcessors() - 1);

  private static final int FIRST_JDK_THAT_WARNS = 24;

  private ChildFlags() {}

  /** All of them, with this heap. */
  static List<String> of(String heap) {
    List<String> flags =
        new ArrayList<>(
            Stream.concat(
                    OPENS.stream().map(name -> "--add-opens=" + name + "=ALL-UNNAMED"),
                    OTHERS.stream())
                .toList());
    flags.add("-Djava.util.concurrent.ForkJoinPool.common.parallelism=" + PARALLELISM);
    flags.add("-Xms" + heap);
    flags.add("-Xmx" + heap);
    if (Runtime.version().feature() >= FIRST_JDK_THAT_WARNS) {
      flags.add("--enable-native-access=ALL-UNNAMED");
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags;
  }
}
