package io.gameq.node;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes what was opened, the last first, each whatever the others do. Not thread-safe. */
final class ClosingOrder implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClosingOrder.class);

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
