package io.gameq.recovery.failover;

import io.gameq.writer.campaign.CampaignLength;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** All kinds of failover, and which of them a run makes happen. Stateless. */
final class Failovers {
  /** What a submission must pass. */
  private static final String SHORT = "^kill -9 of the primary$|^tool killed";

  /** What every build makes happen. */
  static final Failover QUICK =
      Failover.of("kill -9 of the primary, for good", PrimaryFaults::killForGood);

  private Failovers() {}

  static List<Failover> chosen() {
    Pattern pattern =
        Pattern.compile(
            System.getProperty("gameq.campaign.failovers", CampaignLength.isShort() ? SHORT : ""));
    return all().stream().filter(failover -> pattern.matcher(failover.name()).find()).toList();
  }

  private static List<Failover> all() {
    List<Failover> all = new ArrayList<>();
    all.addAll(PrimaryFaults.all());
    all.addAll(SecondFaults.all());
    all.addAll(NodeGoneFaults.all());
    all.addAll(ClockFailovers.all());
    return all;
  }
}
