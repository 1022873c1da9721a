package io.gameq.wal;

import io.gameq.WalException;
import java.util.ArrayList;
import java.util.List;
import net.openhft.chronicle.core.Jvm;

/**
 * Tells an embedder which JVM flags Chronicle Queue misses, before it fails somewhere inside.
 * Stateless.
 */
public final class JvmFlags {
  /** From here on a JVM warns of what Chronicle Queue does with memory; 17 knows no such flag. */
  private static final int WARNS_OF_UNSAFE = 24;

  private JvmFlags() {}

  /**
   * Looks whether this JVM has what the WAL needs; asks nobody.
   *
   * @throws WalException when it has not, naming the flags that are missing
   */
  public static void check() {
    Module base = Object.class.getModule();
    Module chronicle = Jvm.class.getModule();
    String to = "=" + (chronicle.isNamed() ? chronicle.getName() : "ALL-UNNAMED");
    List<String> missing = new ArrayList<>();
    if (!base.isOpen("java.lang.reflect", chronicle)) {
      missing.add("--add-opens=java.base/java.lang.reflect" + to);
    }
    if (!base.isExported("sun.nio.ch", chronicle)) {
      missing.add("--add-exports=java.base/sun.nio.ch" + to);
    }
    if (missing.isEmpty()) {
      return;
    }
    int needed = missing.size();
    if (!base.isExported("jdk.internal.ref", chronicle)) {
      missing.add("--add-exports=java.base/jdk.internal.ref" + to);
    }
    if (Runtime.version().feature() >= WARNS_OF_UNSAFE) {
      missing.add("--sun-misc-unsafe-memory-access=allow");
    }
    String line = String.join(" ", missing);
    throw new WalException(
        "this JVM was started without flags that Chronicle Queue, which the WAL uses, needs. Add to"
            + " the java command line, or to JDK_JAVA_OPTIONS: "
            + line
            + (missing.size() == needed
                ? ""
                : " (all but the first %s against warnings alone)".formatted(needed)));
  }
}
