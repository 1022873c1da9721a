package io.gameq.lab.compare;

import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.ContenderType.Trait;
import io.gameq.lab.contender.redis.RawRedis;
import io.gameq.lab.load.Load;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs contenders one after the other, each in fresh child processes. One thread. */
final class Comparison {
  private final CompareOptions options;
  private final TestBed bed;
  private final Map<String, Map<String, String>> settings = new LinkedHashMap<>();

  Comparison(CompareOptions options, TestBed bed) {
    this.options = options;
    this.bed = bed;
  }

  /** All rounds, contender after contender in each, then the kills likewise. */
  void run() throws IOException, InterruptedException {
    List<ContenderType> all = options.contenders();
    MeasuredRound measured = new MeasuredRound(bed, options, settings);
    for (int round = 1; round <= options.rounds(); round++) {
      for (ContenderType type : all) {
        if (type.is(Trait.LIMIT)) {
          measured.run(type, Group.LIMITS, Load.Pace.pressure(RawRedis.COMMITS_IN_FLIGHT), round);
          continue;
        }
        if (options.perSecond() > 0) {
          measured.run(type, Group.PACED, Load.Pace.openLoop(options.perSecond(), 0), round);
          continue;
        }
        measured.run(type, Group.CLOSED_LOOP, Load.Pace.closedLoop(0), round);
        if (options.inFlight() > 1 && type.is(Trait.ASYNCHRONOUS)) {
          measured.run(type, Group.ASYNCHRONOUS, Load.Pace.pressure(options.inFlight()), round);
        }
      }
    }
    KilledRun killed = new KilledRun(bed, options);
    for (int kill = 1; kill <= options.kills(); kill++) {
      for (ContenderType type : all) {
        if (!type.is(Trait.LIMIT)) {
          for (KilledRun.Victim victim : KilledRun.Victim.of(type)) {
            killed.run(type, victim, kill);
          }
        }
      }
    }
  }

  /** Of each contender that was measured. */
  Map<String, Map<String, String>> settings() {
    return settings;
  }
}
