package io.gameq.lab.load;

import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/** What this process uses from a moment on, which {@link #usedSince} ends. One thread. */
public record Resources(
    Map<Long, Long> allocated, long gcCount, long gcMillis, long cpuNanos, GcPauses pauses) {
  /**
   * What was used in between.
   *
   * @param allocatedBytes by threads that live at the end; those that ended count nothing
   * @param gcMillis all pauses of the collectors together
   * @param longestGcMillis the longest of them
   * @param cpuSeconds of all threads
   */
  public record Used(
      long allocatedBytes, long gcCount, long gcMillis, long longestGcMillis, double cpuSeconds) {
    /** With what threads allocated that have ended. */
    Used with(long bytes) {
      return new Used(allocatedBytes + bytes, gcCount, gcMillis, longestGcMillis, cpuSeconds);
    }
  }

  /** What the current thread has allocated since it began, bytes. */
  public static long allocatedByThisThread() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  /** From now on. */
  public static Resources now() {
    return now(new GcPauses());
  }

  private static Resources now(GcPauses pauses) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long[] ids = threads.getAllThreadIds();
    long[] bytes = threads.getThreadAllocatedBytes(ids);
    Map<Long, Long> allocated = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      allocated.put(ids[i], bytes[i]);
    }
    long count = 0;
    long millis = 0;
    for (GarbageCollectorMXBean of : GcPauses.pausing()) {
      count += of.getCollectionCount();
      millis += of.getCollectionTime();
    }
    return new Resources(allocated, count, millis, processorNanos(), pauses);
  }

  /** Processor time of this process since it began, all threads together. */
  public static long processorNanos() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime();
  }

  /** What was used until now; once. */
  public Used usedSince() {
    Resources now = now(pauses);
    pauses.close();
    long bytes = 0;
    for (Map.Entry<Long, Long> of : now.allocated.entrySet()) {
      bytes += Math.max(0, of.getValue() - allocated.getOrDefault(of.getKey(), 0L));
    }
    return new Used(
        bytes,
        now.gcCount - gcCount,
        now.gcMillis - gcMillis,
        pauses.longestMillis(),
        (now.cpuNanos - cpuNanos) / 1e9);
  }
}
