package io.gameq.lab.demo.game;

import io.gameq.OwnerSession;
import io.gameq.Row;
import java.util.List;

/**
 * One player of a demo: its rows in memory, and what it does with them. One thread at a time.
 *
 * <p>Each action stages its changes in a session and makes them in memory too; it returns how many
 * rows it changed, every row once, and the caller commits.
 */
public interface DemoActor {
  /** The owner id, for example {@code player:42}. */
  String owner();

  /** The rows that this player has now. */
  List<Row> rows();

  /** Stages the first rows of a new player. */
  int create(OwnerSession session);

  /** Changes, gains and loses a few rows. */
  int act(OwnerSession session);

  /**
   * Gives something to another player of the same game, and perhaps takes something for it; 0 when
   * there is nothing to give. The caller commits both sessions as one.
   */
  int trade(OwnerSession mine, DemoActor other, OwnerSession theirs);
}
