package io.gameq.test;

import io.gameq.GameQueue;
import io.gameq.test.GameQueueTest.OnServers;

/** What the annotation gives to tests on servers. */
@OnServers(ServersContractTest.Embedded.class)
class ServersExtensionTest extends MemoryExtensionTest {
  ServersExtensionTest(GameQueue queue) {
    super(queue);
  }
}
