package io.gameq.lab.demo.sample;

import java.math.BigInteger;
import java.time.LocalDateTime;

/** A row of table player; immutable. */
record Player(
    long id,
    String name,
    int level,
    BigInteger experience,
    long gold,
    double x,
    double y,
    LocalDateTime lastLogin) {

  Player moved(double toX, double toY) {
    return new Player(id, name, level, experience, gold, toX, toY, lastLogin);
  }

  /** With this much more experience and gold; a level takes 1000 of experience. */
  Player rewarded(long moreExperience, long moreGold) {
    BigInteger sum = experience.add(BigInteger.valueOf(moreExperience));
    int reached = sum.divide(BigInteger.valueOf(1_000)).min(BigInteger.valueOf(999)).intValue() + 1;
    return new Player(id, name, reached, sum, gold + moreGold, x, y, lastLogin);
  }
}
