package io.gameq.wal;

import io.gameq.WalException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import net.openhft.chronicle.core.Jvm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Chronicle Queue needs of the JVM beyond what every library has: packages of {@code
 * java.base}. They are opened for it alone, to the module of its class loader; where the JVM does
 * not let that happen, flags of its command line do. Stateless.
 */
public final class JvmFlags {
  private static final Logger LOG = LoggerFactory.getLogger(JvmFlags.class);

  private static final String REFLECT = "java.lang.reflect";
  private static final String CHANNELS = "sun.nio.ch";

  /** Without it there are warnings, no more. */
  private static final String REFERENCES = "jdk.internal.ref";

  /** From here on a JVM warns of what Chronicle Queue does with memory; 17 knows no such flag. */
  private static final int WARNS_OF_UNSAFE = 24;

  private static final Module BASE = Object.class.getModule();

  private JvmFlags() {}

  /**
   * Opens what is needed, and looks whether it is, before Chronicle Queue fails somewhere inside.
   *
   * @throws WalException naming the flags that are missing
   */
  public static void require() {
    Module chronicle = Jvm.class.getModule();
    if (isMissing(chronicle) || !BASE.isExported(REFERENCES, chronicle)) {
      open(chronicle);
    }
    if (isMissing(chronicle)) {
      throw new WalException(
          "this JVM does not let gameq open what Chronicle Queue, which the WAL uses, needs. Add to"
              + " the java command line, or to JDK_JAVA_OPTIONS: "
              + String.join(" ", missing(chronicle)));
    }
  }

  private static boolean isMissing(Module chronicle) {
    return !BASE.isOpen(REFLECT, chronicle) || !BASE.isExported(CHANNELS, chronicle);
  }

  private static List<String> missing(Module chronicle) {
    String to = "=" + (chronicle.isNamed() ? chronicle.getName() : "ALL-UNNAMED");
    List<String> flags = new ArrayList<>();
    if (!BASE.isOpen(REFLECT, chronicle)) {
      flags.add("--add-opens=java.base/" + REFLECT + to);
    }
    for (String exported : List.of(CHANNELS, REFERENCES)) {
      if (!BASE.isExported(exported, chronicle)) {
        flags.add("--add-exports=java.base/" + exported + to);
      }
    }
    if (Runtime.version().feature() >= WARNS_OF_UNSAFE) {
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags;
  }

  /**
   * As the flags do, by the lookup that may do everything. It is read by way of {@code
   * sun.misc.Unsafe}, without which Chronicle Queue does not work either.
   */
  private static void open(Module chronicle) {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field instance = type.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      Object unsafe = instance.get(null);
      Field lookup = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
      Object base = type.getMethod("staticFieldBase", Field.class).invoke(unsafe, lookup);
      Object offset = type.getMethod("staticFieldOffset", Field.class).invoke(unsafe, lookup);
      MethodHandles.Lookup all =
          (MethodHandles.Lookup)
              type.getMethod("getObject", Object.class, long.class).invoke(unsafe, base, offset);
      MethodType toModule = MethodType.methodType(void.class, String.class, Module.class);
      MethodHandle opens = all.findVirtual(Module.class, "implAddOpens", toModule);
      opens.invokeExact(BASE, REFLECT, chronicle);
      MethodHandle exports = all.findVirtual(Module.class, "implAddExports", toModule);
      exports.invokeExact(BASE, CHANNELS, chronicle);
      exports.invokeExact(BASE, REFERENCES, chronicle);
    } catch (Throwable e) { // flags are asked for then
      LOG.debug("cannot open packages of java.base", e);
    }
  }
}
