package io.gameq.lab.report;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What this process runs on. Stateless. */
public final class Machine {
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

  private Machine() {}

  /** For a result: cores, memory, systems, the JVM and those of its flags that hold no secret. */
  public static Map<String, Object> facts() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("cores", Runtime.getRuntime().availableProcessors());
    facts.put("processor", processor());
    facts.put("memoryBytes", system.getTotalMemorySize());
    facts.put("loadAverageAtStart", system.getSystemLoadAverage());
    facts.put(
        "system", "%s %s %s".formatted(system.getName(), system.getVersion(), system.getArch()));
    facts.put(
        "jvm",
        "%s %s"
            .formatted(System.getProperty("java.vm.name"), System.getProperty("java.vm.version")));
    facts.put("heapBytes", Runtime.getRuntime().maxMemory());
    facts.put(
        "collectors",
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .toList());
    facts.put("flags", flags());
    facts.put("walFileSystem", walFileSystem());
    return facts;
  }

  /** A property may hold a password. */
  private static List<String> flags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("-X") || flag.startsWith("--add-"))
        .toList();
  }

  /** WALs lie in the temporary directory. */
  private static String walFileSystem() {
    try {
      return Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir", "/tmp"))).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(CPU_INFO)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
