package io.gameq.writer.process;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.ProcessSign;
import io.gameq.redis.script.ProcessSigns;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One look at the nodes and writers of a game: those that run, and those that ended otherwise than
 * in order. Immutable.
 *
 * @param nodes by name
 * @param writers by name
 */
public record Processes(List<ListedNode> nodes, List<ListedWriter> writers) {
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
    List<ProcessSign> all = new ProcessSigns(namespace).all(redis);
    return new Processes(
        of(all, ProcessSigns.NODE)
            .map(ListedNode::of)
            .sorted(Comparator.comparing(node -> node.sign().process().name()))
            .toList(),
        of(all, ProcessSigns.WRITER)
            .map(ListedWriter::of)
            .filter(ListedWriter::isWorthShowing)
            .sorted(Comparator.comparing(writer -> writer.sign().process().name()))
            .toList());
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

  /** What is to be done about them, each in one line; empty when all is well. */
  public List<String> toDo() {
    return Stream.concat(
            nodes.stream().flatMap(of -> of.toDo().stream()),
            writers.stream().flatMap(of -> of.toDo().stream()))
        .toList();
  }
}
