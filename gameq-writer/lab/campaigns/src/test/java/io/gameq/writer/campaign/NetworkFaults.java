package io.gameq.writer.campaign;

import io.gameq.servers.FaultProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Connections that are cut, half-open, slow or lossy, each with the server healthy. Stateless. */
final class NetworkFaults {
  /** Longer than any client waits for a reply. */
  private static final int LONGER_THAN_TIMEOUTS_SECONDS = 7;

  private NetworkFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault(
            "connections of a node cut",
            5,
            (world, random) -> ofNode(world, random).forEach(FaultProxy::cut)),
        new Fault(
            "connections of a writer cut",
            5,
            (world, random) -> ofWriter(world, random).forEach(FaultProxy::cut)),
        new Fault("a node cannot reach its servers for 3 s", 1, NetworkFaults::unreachable),
        new Fault(
            "connections of a node half-open",
            1,
            (world, random) -> during(ofNode(world, random), FaultProxy::swallow)),
        new Fault(
            "connections of a writer half-open",
            1,
            (world, random) -> during(ofWriter(world, random), FaultProxy::swallow)),
        new Fault("packets delayed by 50 to 200 ms", 1, NetworkFaults::delayed),
        new Fault(
            "replies to a node dropped",
            1,
            (world, random) -> during(ofNode(world, random), FaultProxy::dropReplies)),
        new Fault(
            "replies to a writer dropped",
            1,
            (world, random) -> during(ofWriter(world, random), FaultProxy::dropReplies)),
        new Fault(
            "requests of a node delivered after it reconnected",
            1,
            (world, random) -> late(ofNode(world, random))),
        new Fault(
            "requests of a writer delivered after it reconnected",
            1,
            (world, random) -> late(ofWriter(world, random))));
  }

  private static List<FaultProxy> ofNode(World world, Random random) {
    NodeProcess node = world.node(random);
    return List.of(node.redis(), node.mysql());
  }

  private static List<FaultProxy> ofWriter(World world, Random random) {
    WriterProcess writer = world.writer(random);
    return List.of(writer.redis(), writer.mysql());
  }

  private static void unreachable(World world, Random random) throws InterruptedException {
    List<FaultProxy> proxies = ofNode(world, random);
    proxies.forEach(proxy -> proxy.refuse(true));
    proxies.forEach(FaultProxy::cut);
    TimeUnit.SECONDS.sleep(3);
    proxies.forEach(FaultProxy::heal);
  }

  private static void during(List<FaultProxy> proxies, Consumer<FaultProxy> fault)
      throws InterruptedException {
    proxies.forEach(fault);
    TimeUnit.SECONDS.sleep(LONGER_THAN_TIMEOUTS_SECONDS);
    proxies.forEach(FaultProxy::heal);
  }

  private static void delayed(World world, Random random) throws InterruptedException {
    List<FaultProxy> all = new ArrayList<>();
    world.nodes.forEach(node -> all.addAll(List.of(node.redis(), node.mysql())));
    world.writers.forEach(writer -> all.addAll(List.of(writer.redis(), writer.mysql())));
    all.forEach(proxy -> proxy.delay(200));
    TimeUnit.SECONDS.sleep(4);
    all.forEach(FaultProxy::heal);
  }

  /** What was on its way when the client gave the connection up arrives when it has a new one. */
  private static void late(List<FaultProxy> proxies) throws InterruptedException {
    proxies.forEach(FaultProxy::holdRequests);
    TimeUnit.SECONDS.sleep(LONGER_THAN_TIMEOUTS_SECONDS);
    proxies.forEach(FaultProxy::releaseHeld);
    TimeUnit.SECONDS.sleep(1);
  }
}
