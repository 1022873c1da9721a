package io.gameq.writer.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** All kinds of fault, and which of them a run injects. Stateless. */
final class Faults {
  /** A few quick ones of each sort: what a submission must pass. */
  private static final String SHORT =
      "after the WAL, before EXEC|after EXEC|kill -9 after its claim|kill -9 after COMMIT|KILL of"
          + " all|SCRIPT FLUSH|maxmemory reached$|connections of a node cut|its acknowledgement"
          + " comes late";

  private Faults() {}

  static List<Fault> chosen() {
    Pattern pattern =
        Pattern.compile(
            System.getProperty("gameq.campaign.faults", CampaignLength.isShort() ? SHORT : ""));
    return all().stream().filter(fault -> pattern.matcher(fault.name()).find()).toList();
  }

  private static Fault.Injection everything(List<Fault> all) {
    return (world, random) -> all.get(random.nextInt(all.size())).injection().inject(world, random);
  }

  private static List<Fault> all() {
    List<Fault> all = new ArrayList<>();
    all.add(new Fault("none", 0, (world, random) -> {}));
    all.addAll(NodeFaults.all());
    all.addAll(WriterFaults.all());
    all.addAll(MySqlFaults.all());
    all.addAll(RedisFaults.all());
    all.addAll(NetworkFaults.all());
    all.addAll(HostFaults.all());
    all.addAll(MessageFaults.all());
    List<Fault> repeatable = List.copyOf(all);
    all.addAll(SchemaFaults.all());
    all.addAll(ClockFaults.all()); // not beside others: for an hour some owners cannot be opened
    all.add(new Fault("everything at random", 5, everything(repeatable)));
    return all;
  }
}
