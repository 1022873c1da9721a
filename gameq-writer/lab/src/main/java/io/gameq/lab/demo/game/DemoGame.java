package io.gameq.lab.demo.game;

import io.gameq.rows.Table;
import java.util.List;

/** A game that the demo plays: it makes players. Thread-safe. */
public interface DemoGame {
  /** The tables whose rows the actors hold. */
  List<Table> tables();

  /**
   * A new player that has no rows yet.
   *
   * @param number from 0 on, one for each player
   */
  DemoActor actor(int number);
}
