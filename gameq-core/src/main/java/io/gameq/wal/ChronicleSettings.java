package io.gameq.wal;

/**
 * Turns off what Chronicle Queue does besides queueing: its banner, its disk monitor, its usage
 * analytics. Stateless.
 */
final class ChronicleSettings {
  private ChronicleSettings() {}

  static void quiet() {
    System.setProperty("chronicle.announcer.disable", "true");
    System.setProperty("chronicle.disk.monitor.disable", "true");
    System.setProperty("chronicle.analytics.disable", "true");
  }
}
