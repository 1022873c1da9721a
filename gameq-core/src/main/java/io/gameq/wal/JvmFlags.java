package io.gameq.wal;

import io.gameq.WalException;

/**
 * Tells an embedder which JVM flags Chronicle Queue misses, before it fails somewhere inside.
 * Stateless.
 */
final class JvmFlags {
  private static final String NEEDED =
      "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED"
          + " --add-exports=java.base/sun.nio.ch=ALL-UNNAMED"
          + " --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED";

  private JvmFlags() {}

  /** Throws a {@link WalException} that names the flags when one is missing. */
  static void check() {
    Module base = Object.class.getModule();
    Module ours = JvmFlags.class.getModule();
    if (!base.isOpen("java.lang.reflect", ours) || !base.isExported("sun.nio.ch", ours)) {
      throw new WalException(
          "this JVM was started without flags that Chronicle Queue needs. Add to the java command"
              + " line, or to JDK_JAVA_OPTIONS: "
              + NEEDED);
    }
  }
}
