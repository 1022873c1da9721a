package io.gameq.example.spring;

import io.gameq.example.ExampleGame;
import org.springframework.context.SmartLifecycle;

/** Logs everybody out before the queue stops: by default what has no phase stops first. */
final class Logouts implements SmartLifecycle {
  private final ExampleGame game;
  private volatile boolean running;

  Logouts(ExampleGame game) {
    this.game = game;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    game.close();
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }
}
