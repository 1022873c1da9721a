package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSource;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import java.util.List;

/** Names those that end at MySQL without a queue. Stateless. */
public final class MySqlSource implements ContenderSource {
  @Override
  public List<ContenderType> contenders() {
    return List.of(
        // A transaction of one upsert for each row.
        ContenderType.of("sync-3", Holds.NOTHING, setup -> new SynchronousContender(setup, false)),
        // One upsert of all rows of an action.
        ContenderType.of("sync-1", Holds.NOTHING, setup -> new SynchronousContender(setup, true)),
        ContenderType.of(
            "raw-mysql", Holds.NOTHING, BatchingContender::new, Trait.LIMIT, Trait.MANAGED_TABLE),
        ContenderType.of("forgetful", Holds.NOTHING, ForgetfulContender::new, Trait.ON_REQUEST));
  }
}
