package io.gameq.lab.contender.gameq;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderSource;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.load.Contender;
import java.util.List;

/** Names gameq. Stateless. */
public final class GameqSource implements ContenderSource {
  public static final String NAME = "gameq";

  @Override
  public List<ContenderType> contenders() {
    return List.of(
        ContenderType.of(
            NAME,
            Holds.IN_REDIS,
            GameqSource::open,
            Trait.ASYNCHRONOUS,
            Trait.OWN_WRITER,
            Trait.MANAGED_TABLE));
  }

  private static Contender open(ContenderSetup setup) {
    return setup.role() == ContenderSetup.Role.WRITER
        ? new GameqWriter(setup)
        : new GameqContender(setup);
  }
}
