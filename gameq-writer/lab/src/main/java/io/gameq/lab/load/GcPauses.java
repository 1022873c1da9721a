package io.gameq.lab.load;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/** Hears of every pause of the collectors from its making to its close. Thread-safe. */
public final class GcPauses implements AutoCloseable {
  private static final Set<String> HEAP_POOLS =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toUnmodifiableSet());

  private final AtomicLong longestMillis = new AtomicLong();
  private final AtomicLong heapBytes = new AtomicLong();
  private final NotificationListener listener = this::heard;

  public GcPauses() {
    collectors().forEach(bean -> bean.addNotificationListener(listener, null, null));
  }

  /** The collectors whose time is pauses: the cycles of ZGC and Shenandoah run beside the game. */
  static Set<GarbageCollectorMXBean> pausing() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(bean -> !bean.getName().contains("Cycles"))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Set<NotificationEmitter> collectors() {
    return pausing().stream()
        .filter(NotificationEmitter.class::isInstance)
        .map(NotificationEmitter.class::cast)
        .collect(Collectors.toUnmodifiableSet());
  }

  private void heard(Notification notification, Object unused) {
    if (!notification
        .getType()
        .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      return;
    }
    var gc =
        GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
            .getGcInfo();
    longestMillis.accumulateAndGet(gc.getDuration(), Math::max);
    heapBytes.set(
        gc.getMemoryUsageAfterGc().entrySet().stream()
            .filter(pool -> HEAP_POOLS.contains(pool.getKey()))
            .mapToLong(pool -> pool.getValue().getUsed())
            .sum());
  }

  /** The longest pause that was heard of, ms; 0 when there was none. */
  public long longestMillis() {
    return longestMillis.get();
  }

  /** The same since it was asked so last. */
  public long takeLongestMillis() {
    return longestMillis.getAndSet(0);
  }

  /** The heap in use after the last collection; 0 when there was none. */
  public long heapBytesAfterLast() {
    return heapBytes.get();
  }

  @Override
  public void close() {
    for (NotificationEmitter bean : collectors()) {
      try {
        bean.removeNotificationListener(listener);
      } catch (ListenerNotFoundException e) {
        throw new IllegalStateException(e); // it was added by the constructor
      }
    }
  }
}
