package io.gameq.writer.campaign;

import java.util.Random;

/**
 * One kind of fault; immutable.
 *
 * @param times how often it is injected in a case
 * @param setsClocks whether it sets clocks of running processes, which not every machine can do
 */
record Fault(String name, int times, boolean setsClocks, Injection injection) {
  Fault(String name, int times, Injection injection) {
    this(name, times, false, injection);
  }

  /** Does the harm, waits as long as the harm lasts, and mends what {@link World#heal} does not. */
  interface Injection {
    void inject(World world, Random random) throws Exception;
  }
}
