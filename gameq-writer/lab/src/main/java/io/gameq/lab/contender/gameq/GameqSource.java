package io.gameq.lab.contender.gameq;

import io.gameq.lab.contender.ContenderSource;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import java.util.List;

/** Names gameq. Stateless. */
public final class GameqSource implements ContenderSource {
  public static final String NAME = "gameq";

  @Override
  public List<ContenderType> contenders() {
    return List.of(
        ContenderType.of(
            NAME, Holds.IN_REDIS, GameqContender::new, Trait.ASYNCHRONOUS, Trait.MANAGED_TABLE));
  }
}
