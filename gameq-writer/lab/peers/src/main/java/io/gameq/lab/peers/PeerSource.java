package io.gameq.lab.peers;

import io.gameq.lab.contender.ContenderSource;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Holds;
import io.gameq.lab.contender.ContenderType.Trait;
import java.util.List;

/** Names other libraries that write behind. Stateless. */
public final class PeerSource implements ContenderSource {
  @Override
  public List<ContenderType> contenders() {
    return List.of(
        ContenderType.of("redisson", Holds.IN_REDIS, RedissonContender::new, Trait.ASYNCHRONOUS),
        ContenderType.of("hazelcast", Holds.IN_HEAP, HazelcastContender::new, Trait.ASYNCHRONOUS),
        ContenderType.of("ignite", Holds.IN_HEAP, IgniteContender::new, Trait.ASYNCHRONOUS),
        ContenderType.of("ehcache", Holds.IN_HEAP, EhcacheContender::new, Trait.ASYNCHRONOUS));
  }
}
