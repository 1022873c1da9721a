package io.gameq.lab.demo;

import io.gameq.GameQueueException;

/** The demo cannot go on, or found what must not be. */
final class DemoFailure extends GameQueueException {
  private static final long serialVersionUID = 1;

  DemoFailure(String message) {
    super(message);
  }
}
