package io.gameq.node;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources that were opened, to be closed in reverse order; one that fails to close is logged
 * and does not keep the others open. Not thread-safe.
 */
final class ResourceStack implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResourceStack.class);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  <T extends AutoCloseable> T add(T resource) {
    opened.push(resource);
    return resource;
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        LOG.warn("while closing: {}", e.toString());
      }
    }
  }
}
