package io.gameq.lab.contender.redis;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderSource;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import java.util.List;

/** Names the limits of Redis, and the queue that gameq began as. Stateless. */
public final class RedisSource implements ContenderSource {
  @Override
  public List<ContenderType> contenders() {
    return List.of(
        // On request: what a minute of games puts into its queue takes its consumers ten.
        ContenderType.of("seed", Holds.IN_REDIS, SeedContender::new, Trait.ON_REQUEST),
        ContenderType.of(
            "raw-redis",
            Holds.NOTHING,
            setup -> new RawRedis(setup.place().redisUri(), bytes(setup)),
            Trait.LIMIT,
            Trait.REDIS_ALONE),
        ContenderType.of(
            "plain-client",
            Holds.NOTHING,
            setup -> new PlainClient(setup.place().redisUri(), bytes(setup)),
            Trait.LIMIT,
            Trait.REDIS_ALONE));
  }

  private static CommitBytes bytes(ContenderSetup setup) {
    try (MySql pool = MySqlPool.open(setup.place().mysql(1), "limit")) {
      return new CommitBytes(
          new RowEncoding(CatalogReader.read(pool).table(Workload.TABLE)),
          setup.place().name(),
          setup.tuning().slots());
    }
  }
}
