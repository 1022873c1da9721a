package io.gameq.lab.report;

import io.gameq.lab.mysql.MySqlFacts;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.redis.ServerFacts;
import io.gameq.lab.scratch.ScratchServers;
import io.gameq.sign.Protocol;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Under what conditions a run measures: without them a figure says nothing. Holds no addresses and
 * no secrets. Immutable.
 */
public final class RunConditions {
  private final Instant date = Instant.now();
  private final Map<String, Object> machine = Machine.facts();

  /** For a result, while the servers run. */
  public ResultJson.Conditions of(
      Map<String, Object> options, ScratchServers servers, ScratchDatabase database) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("description", servers.description());
    facts.put("redis", ServerFacts.of(servers.redisUri()));
    facts.put("mysql", MySqlFacts.of(database.mysql()));
    return new ResultJson.Conditions(Protocol.RELEASE, date, options, machine, facts);
  }
}
