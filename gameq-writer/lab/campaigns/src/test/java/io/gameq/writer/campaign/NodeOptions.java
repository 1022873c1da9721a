package io.gameq.writer.campaign;

import java.nio.file.Path;
import java.util.List;

/**
 * What a game node process is started with; immutable. It travels as the command line.
 *
 * @param incarnation counts the starts of this node: ids of commits must never repeat
 * @param home owners with this number modulo 2 are this node's own, the others it takes over now
 *     and then
 * @param clockOffsetMillis how far this node's host clock is ahead
 */
public record NodeOptions(
    String name,
    int incarnation,
    int home,
    long seed,
    String namespace,
    String redisUri,
    String jdbcUrl,
    Path history,
    Path wal,
    long clockOffsetMillis,
    int mergeWindowMillis) {
  List<String> toArguments() {
    return List.of(
        name,
        Integer.toString(incarnation),
        Integer.toString(home),
        Long.toString(seed),
        namespace,
        redisUri,
        jdbcUrl,
        history.toString(),
        wal.toString(),
        Long.toString(clockOffsetMillis),
        Integer.toString(mergeWindowMillis));
  }

  static NodeOptions of(String[] arguments) {
    return new NodeOptions(
        arguments[0],
        Integer.parseInt(arguments[1]),
        Integer.parseInt(arguments[2]),
        Long.parseLong(arguments[3]),
        arguments[4],
        arguments[5],
        arguments[6],
        Path.of(arguments[7]),
        Path.of(arguments[8]),
        Long.parseLong(arguments[9]),
        Integer.parseInt(arguments[10]));
  }

  NodeOptions with(int newIncarnation, Path newWal, long newClockOffsetMillis) {
    return new NodeOptions(
        name,
        newIncarnation,
        home,
        seed + newIncarnation,
        namespace,
        redisUri,
        jdbcUrl,
        history,
        newWal,
        newClockOffsetMillis,
        mergeWindowMillis);
  }
}
