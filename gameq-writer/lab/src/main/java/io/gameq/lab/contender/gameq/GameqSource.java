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
  private static final String JOURNALED = "gameq-journaled";

  @Override
  public List<ContenderType> contenders() {
    return List.of(
        ContenderType.of(
            NAME,
            Holds.IN_REDIS,
            setup -> open(setup, GameqNode.Acknowledges.QUEUED),
            Trait.ASYNCHRONOUS,
            Trait.OWN_WRITER,
            Trait.MANAGED_TABLE),
        ContenderType.of(
            JOURNALED,
            Holds.IN_REDIS,
            setup -> open(setup, GameqNode.Acknowledges.JOURNALED),
            Trait.ASYNCHRONOUS,
            Trait.OWN_WRITER,
            Trait.STARTS_AGAIN,
            Trait.MANAGED_TABLE));
  }

  private static Contender open(ContenderSetup setup, GameqNode.Acknowledges what) {
    return setup.role() == ContenderSetup.Role.WRITER
        ? new GameqWriter(setup)
        : new GameqContender(setup, what);
  }
}
