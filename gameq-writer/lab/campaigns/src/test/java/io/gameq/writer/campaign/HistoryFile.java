package io.gameq.writer.campaign;

import io.gameq.Conflict;
import io.gameq.owner.SessionId;
import io.gameq.writer.campaign.messages.LineFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes what a node does, a line each, straight into the page cache: a kill of the node loses
 * none. Thread-safe.
 *
 * <pre>
 * invoke  nanos  id  owner@epoch;... (none: sent)  row=owner+;row=owner-;...     before the commit
 * ok      nanos  id                                                 Redis has it
 * fail    nanos  id  reason                                         it is certain that Redis has it
 *                    not
 * unknown nanos  id  reason
 * durable nanos   id                                                MySQL has it
 * conflict nanos  row=version;...  owner  epoch  certainty          what the node reported as lost
 * told    nanos  owner  epoch  row                          a session was told of a row sent to it
 * holds   nanos  owner  epoch                               the node has it when nobody plays now
 * open    from   until  owner  epoch  row=value;...  process        what an open returned
 * </pre>
 */
final class HistoryFile {
  static final String INVOKE = "invoke";
  static final String OK = "ok";
  static final String FAIL = "fail";
  static final String UNKNOWN = "unknown";
  static final String DURABLE = "durable";
  static final String CONFLICT = "conflict";
  static final String OPEN = "open";
  static final String TOLD = "told";
  static final String HOLDS = "holds";

  private final LineFile file;

  HistoryFile(Path file) throws IOException {
    this.file = new LineFile(file);
  }

  void invoke(String id, List<Attempt.Part> parts, List<Change> changes) {
    file.line(
        INVOKE,
        System.nanoTime(),
        id,
        parts.stream()
            .map(part -> part.owner() + "@" + part.epoch())
            .collect(Collectors.joining(";")),
        changes.stream()
            .map(change -> change.row() + "=" + change.owner() + (change.put() ? "+" : "-"))
            .collect(Collectors.joining(";")));
  }

  void ok(String id) {
    file.line(OK, System.nanoTime(), id);
  }

  void fail(String id, Throwable reason) {
    file.line(FAIL, System.nanoTime(), id, LineFile.plain(reason));
  }

  void unknown(String id, Throwable reason) {
    file.line(UNKNOWN, System.nanoTime(), id, LineFile.plain(reason));
  }

  void open(long from, String owner, long epoch, Map<String, String> rows, String process) {
    file.line(
        OPEN,
        from,
        System.nanoTime(),
        owner,
        epoch,
        rows.entrySet().stream()
            .map(row -> row.getKey() + "=" + row.getValue())
            .collect(Collectors.joining(";")),
        process);
  }

  void told(Attempt.Part session, String row) {
    file.line(TOLD, System.nanoTime(), session.owner(), session.epoch(), row);
  }

  void holds(Attempt.Part session) {
    file.line(HOLDS, System.nanoTime(), session.owner(), session.epoch());
  }

  void durable(String id) {
    file.line(DURABLE, System.nanoTime(), id);
  }

  void conflict(Conflict lost) {
    file.line(
        CONFLICT,
        System.nanoTime(),
        lost.rows().entrySet().stream()
            .map(row -> row.getKey() + "=" + row.getValue())
            .collect(Collectors.joining(";")),
        lost.owner(),
        SessionId.parse(lost.session()).epoch(),
        lost.mayComeBack() ? "may come back" : "certain");
  }
}
