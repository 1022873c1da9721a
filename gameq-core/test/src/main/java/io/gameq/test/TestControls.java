package io.gameq.test;

/** What a test does to servers. On real ones each call that they cannot do is refused by name. */
public interface TestControls {
  /** Their clock. */
  TestClock clock();

  /** What goes wrong with them. */
  TestFaults faults();

  /** Has everything that is queued in MySQL when it returns, unless MySQL is slow. */
  void flush();

  /** Has an owner taken over by another node, and closed there. */
  void takeOver(String owner);
}
