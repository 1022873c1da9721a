package io.gameq.writer.campaign;

import io.gameq.servers.Trap;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Consumers of messages that die or stall at each step, and replies to them that are lost.
 * Stateless.
 */
final class MessageFaults {
  /** Longer than the lease of a message. */
  private static final int STALL_MILLIS = 2_500;

  /** What the reply to a take holds when something was taken: a word of the payload. */
  private static final String PAYLOAD = "kind";

  /** An acknowledgement among the arguments of a script: alone, or with rows. */
  private static final String ACK = "\r\n$1\r\na\r\n";

  private MessageFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("consumer kill -9 after a take, before its reply", 1, MessageFaults::takenKilled),
        new Fault("consumer kill -9 while it handles", 1, MessageFaults::handlingKilled),
        new Fault(
            "consumer kill -9 with its acknowledgement in the WAL", 1, MessageFaults::ackInWal),
        new Fault(
            "consumer kill -9 after its acknowledgement, before the reply",
            1,
            MessageFaults::ackKilled),
        new Fault(
            "consumer kill -9 with rows and messages in the WAL", 1, MessageFaults::rowsInWal),
        new Fault("consumer kill -9 as it extends a lease", 1, MessageFaults::extendKilled),
        new Fault("consumer SIGSTOP beyond its lease after a take", 2, MessageFaults::takenStalled),
        new Fault("consumer SIGSTOP beyond its lease while it handles", 2, MessageFaults::stalled),
        new Fault(
            "consumer SIGSTOP beyond its lease, its acknowledgement comes late",
            2,
            MessageFaults::ackStalled),
        new Fault("consumer SIGSTOP beyond its lease, rows come late", 2, MessageFaults::rowsLate),
        new Fault(
            "consumer SIGSTOP beyond its lease with rows in the WAL, then kill -9",
            3,
            MessageFaults::rowsNever),
        new Fault("consumer SIGSTOP as it extends a lease", 2, MessageFaults::extendStalled),
        new Fault("node with handled owners kill -9, rows staged", 2, MessageFaults::ownedKilled),
        new Fault(
            "node with handled owners SIGSTOP 17 s, opened elsewhere",
            1,
            MessageFaults::ownedStalled),
        new Fault("reply of a take lost", 3, MessageFaults::takeLost),
        new Fault("reply of an acknowledgement lost", 3, MessageFaults::ackLost),
        new Fault("Redis maxmemory reached while messages are due", 1, MessageFaults::full));
  }

  // --- killed

  private interface Harm {
    Trap trap(Runnable end);
  }

  private static void kill(World world, Random random, Harm harm) throws Exception {
    NodeProcess node = consumer(world, random);
    node.redis().set(harm.trap(node::kill)).await();
    node.restart();
  }

  private static void takenKilled(World world, Random random) throws Exception {
    int skip = random.nextInt(10);
    kill(world, random, end -> Trap.beforeReply(ScriptSha.TAKE, PAYLOAD, skip, end));
  }

  private static void handlingKilled(World world, Random random) throws Exception {
    NodeProcess node = consumer(world, random);
    node.process().tell("handle");
    if (!node.process().awaitEnd(Trap.LIMIT_SECONDS)) {
      throw new IllegalStateException("the node handled nothing");
    }
    node.restart();
  }

  private static void ownedKilled(World world, Random random) throws Exception {
    NodeProcess node = consumer(world, random);
    node.process().tell("errand");
    if (!node.process().awaitEnd(Trap.LIMIT_SECONDS)) {
      throw new IllegalStateException("the node handled nothing of an owner");
    }
    node.restart();
  }

  private static void ownedStalled(World world, Random random) throws Exception {
    NodeFaults.stall(world, random, 17); // longer than it counts as there: handlers.lua
  }

  private static void ackInWal(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    kill(world, random, end -> Trap.beforeRequest(ACK, skip, end));
  }

  private static void ackKilled(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    kill(world, random, end -> Trap.beforeReply(ACK, "*", skip, end));
  }

  private static void rowsInWal(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    kill(world, random, end -> Trap.beforeRequest(ScriptSha.WITH_MESSAGES, skip, end));
  }

  private static void extendKilled(World world, Random random) throws Exception {
    kill(world, random, end -> Trap.beforeRequest(ScriptSha.EXTEND, 0, end));
  }

  // --- stalled, and then what was held goes on

  private static void stall(World world, Random random, Harm harm) throws Exception {
    NodeProcess node = consumer(world, random);
    node.redis().set(harm.trap(() -> stall(node)).thenDeliver()).await();
  }

  private static void stall(NodeProcess node) {
    stopBeyondLease(node);
    Signals.resume(node.process().pid());
  }

  private static void stopBeyondLease(NodeProcess node) {
    Signals.stop(node.process().pid());
    try {
      TimeUnit.MILLISECONDS.sleep(STALL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void takenStalled(World world, Random random) throws Exception {
    int skip = random.nextInt(10);
    stall(world, random, pause -> Trap.beforeReply(ScriptSha.TAKE, PAYLOAD, skip, pause));
  }

  private static void stalled(World world, Random random) throws Exception {
    stall(consumer(world, random));
  }

  private static void ackStalled(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    stall(world, random, pause -> Trap.beforeRequest(ACK, skip, pause));
  }

  private static void rowsLate(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    stall(world, random, pause -> Trap.beforeRequest(ScriptSha.WITH_MESSAGES, skip, pause));
  }

  /** Others have handled the messages when its next start replays what it left. */
  private static void rowsNever(World world, Random random) throws Exception {
    int skip = random.nextInt(20);
    NodeProcess node = consumer(world, random);
    node.redis()
        .set(
            Trap.beforeRequest(
                ScriptSha.WITH_MESSAGES,
                skip,
                () -> {
                  stopBeyondLease(node);
                  node.kill();
                }))
        .await();
    node.restart();
  }

  private static void extendStalled(World world, Random random) throws Exception {
    stall(world, random, pause -> Trap.beforeRequest(ScriptSha.EXTEND, 0, pause));
  }

  // --- replies, and Redis

  private static void takeLost(World world, Random random) throws Exception {
    NodeProcess node = consumer(world, random);
    node.redis()
        .set(Trap.beforeReply(ScriptSha.TAKE, PAYLOAD, random.nextInt(10), () -> {}))
        .await();
  }

  private static void ackLost(World world, Random random) throws Exception {
    NodeProcess node = consumer(world, random);
    node.redis().set(Trap.beforeReply(ACK, "*", random.nextInt(20), () -> {})).await();
  }

  /** Publishes are refused; takes and acknowledgements go on. */
  private static void full(World world, Random random) throws Exception {
    consumer(world, random);
    long from = System.nanoTime();
    RedisCommands<String, String> redis = world.servers.redis();
    redis.configSet("maxmemory", "1");
    try {
      TimeUnit.MILLISECONDS.sleep(2_000);
      if (world.messages().doneSince(from) == 0) {
        throw new IllegalStateException("nothing was handled while Redis was full");
      }
    } finally {
      redis.configSet("maxmemory", "0");
    }
  }

  /** A node that handles messages: none does in its first three seconds. */
  private static NodeProcess consumer(World world, Random random)
      throws IOException, InterruptedException {
    NodeProcess node = world.node(random);
    long from = System.nanoTime();
    long deadline = from + TimeUnit.SECONDS.toNanos(Trap.LIMIT_SECONDS);
    while (world.messages().askedBy(node.name()).stream().noneMatch(at -> at > from)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(node.name() + " handles no messages");
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
    return node;
  }
}
