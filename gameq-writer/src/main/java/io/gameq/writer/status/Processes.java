package io.gameq.writer.status;

import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.script.ProcessSigns;
import io.gameq.redis.script.ProcessSigns.ProcessSign;
import io.gameq.terminal.Shown;
import io.gameq.writer.status.WriterSigns.WriterSign;
import io.gameq.writer.status.WritersCommand.ListedWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One look at the nodes and writers of a game: those that run, and those that ended otherwise than
 * in order. Immutable.
 *
 * @param nodes by name
 * @param writers by name
 * @param clockBehindMillis by how much Redis' clock is behind what it was; 0 when it is not
 */
public record Processes(
    List<ListedNode> nodes, List<ListedWriter> writers, long clockBehindMillis) {
  /** Two readings of one clock are no further apart. */
  private static final long CLOCK_WENT_BACK_MILLIS = 1_000;

  /** What is less may be a Redis that was slow to hear a sign of life. */
  private static final long CLOCK_IS_APART_MILLIS = 10_000;

  /** Of one name, so that it is no upgrade or a host that was restarted. */
  private static final int MANY_ENDS = 3;

  public Processes {
    nodes = List.copyOf(nodes);
    writers = List.copyOf(writers);
  }

  /**
   * Looks.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Processes of(RedisConnection redis, String namespace) {
    ProcessSigns signs = new ProcessSigns(namespace);
    return of(signs.all(redis), signs.clockBehindMillis(redis));
  }

  static Processes of(List<ProcessSign> all, long clockBehindMillis) {
    return new Processes(
        of(all, ProcessSigns.NODE)
            .map(ListedNode::of)
            .sorted(Comparator.comparing(node -> node.sign().process().name()))
            .toList(),
        of(all, ProcessSigns.WRITER)
            .map(ListedWriter::of)
            .filter(ListedWriter::isWorthShowing)
            .sorted(Comparator.comparing(writer -> writer.sign().process().name()))
            .toList(),
        clockBehindMillis);
  }

  /**
   * The same with the nodes that MySQL knows of and Redis does not, since it was emptied.
   *
   * @param started nodes that were started and not closed in order, by MySQL
   */
  public Processes with(List<NodeTable.Started> started) {
    Set<String> known = nodes.stream().map(ListedNode::id).collect(Collectors.toSet());
    List<ListedNode> all = new ArrayList<>(nodes);
    started.stream()
        .filter(of -> !known.contains(of.process()))
        .map(ListedNode::unknown)
        .forEach(all::add);
    all.sort(Comparator.comparing(node -> node.sign().process().name()));
    return new Processes(all, writers, clockBehindMillis);
  }

  private static Stream<ProcessSign> of(List<ProcessSign> all, String kind) {
    return all.stream().filter(of -> of.kind().equals(kind));
  }

  /** How many nodes are in a state. */
  public long nodes(ListedNode.State state) {
    return nodes.stream().filter(of -> of.state() == state).count();
  }

  /** How many writers run. */
  public long writersThere() {
    return writers.stream().filter(of -> !of.isGone()).count();
  }

  /** Tables that writers say take no rows now, and which writers. */
  public Map<String, String> parked() {
    Map<String, String> all = new TreeMap<>();
    writers.stream()
        .filter(of -> !of.isGone() && !of.sign().parked().isEmpty())
        .forEach(
            of -> {
              String who = "writer %s: its log says why".formatted(of.sign().process().name());
              for (String table : of.sign().parked().split(",", -1)) {
                all.merge(table.strip(), who, (before, more) -> before);
              }
            });
    return all;
  }

  /** Ids of the writers that run, reach MySQL and were not paused alone, in order. */
  public List<String> claiming() {
    return writers.stream()
        .filter(of -> !of.isGone() && !of.sign().outage())
        .filter(of -> !of.sign().phase().equals(WriterSign.QUIET))
        .map(ListedWriter::id)
        .sorted()
        .toList();
  }

  /** By how much clocks of processes that are there are away from Redis' at most, ms. */
  public long clocksApartMillis() {
    return Stream.concat(
            nodes.stream().filter(ListedNode::isThere).map(ListedNode::aheadMillis),
            writers.stream().filter(of -> !of.isGone()).map(ListedWriter::aheadMillis))
        .mapToLong(Math::abs)
        .max()
        .orElse(0);
  }

  /** Adds what is to be done about a clock that is wrong. */
  static void clock(String who, long aheadMillis, List<String> all) {
    if (Math.abs(aheadMillis) > CLOCK_IS_APART_MILLIS) {
      all.add(
          "the clock of %s is %s %s Redis': set the one that is wrong by NTP; times in its logs and"
                  .formatted(
                      who,
                      Shown.duration(Math.abs(aheadMillis)),
                      aheadMillis > 0 ? "ahead of" : "behind")
              + " of messages that it schedules are wrong by as much");
    }
  }

  /** What is to be done about them, each in one line; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    if (clockBehindMillis > CLOCK_WENT_BACK_MILLIS) {
      all.add(
          ("Redis' clock is %s behind what it was: it went back, or another server took over."
                  + " Messages that were published meanwhile with a delay are late by as much;"
                  + " owners that were changed meanwhile open once it is 5 minutes behind at most")
              .formatted(Shown.duration(clockBehindMillis)));
    }
    nodes.forEach(of -> all.addAll(of.toDo()));
    writers.forEach(of -> all.addAll(of.toDo()));
    writers.stream()
        .filter(ListedWriter::isGone)
        .collect(
            Collectors.groupingBy(
                of -> of.sign().process().name(), TreeMap::new, Collectors.counting()))
        .forEach(
            (name, gone) -> {
              if (gone >= MANY_ENDS) {
                all.add(
                    "writer %s ended %s times within an hour, and not in order: its log says why"
                        .formatted(Shown.text(name), gone));
              }
            });
    return all;
  }
}
