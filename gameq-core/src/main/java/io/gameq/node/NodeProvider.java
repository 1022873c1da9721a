package io.gameq.node;

import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueProvider;

/** What {@link GameQueue#open(GameQueueConfig)} finds. Stateless. */
public final class NodeProvider implements GameQueueProvider {
  @Override
  public GameQueue open(GameQueueConfig config) {
    return new NodeQueue(GameNode.start(config));
  }
}
