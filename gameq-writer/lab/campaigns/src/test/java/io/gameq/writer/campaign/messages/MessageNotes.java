package io.gameq.writer.campaign.messages;

import io.gameq.topic.Publish;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a node does with messages: before it does it, and what came of it. Thread-safe.
 *
 * <pre>
 * publish  nanos id commit topic lane key afterMillis kind what   before the commit
 * queued   nanos commit                                      Redis has it
 * refused  nanos commit                                      it is certain that Redis has it not
 * unsure   nanos commit
 * delete   nanos id                                          before the delete
 * deleted  nanos id                                          Redis has it
 * taken    nanos take id lane fence attempt due asked leaseEnd process
 *                                                            the handler begins; asked: not before
 *                                                            this did the node ask for messages
 * extended nanos take leaseEnd
 * rows     nanos take commit                                 before ackWith
 * threw    nanos take                                        the handler failed
 * done     nanos take                                        the handler returned
 * </pre>
 */
public final class MessageNotes {
  static final String PUBLISH = "publish";
  static final String QUEUED = "queued";
  static final String REFUSED = "refused";
  static final String UNSURE = "unsure";
  static final String DELETE = "delete";
  static final String DELETED = "deleted";
  static final String TAKEN = "taken";
  static final String EXTENDED = "extended";
  static final String ROWS = "rows";
  static final String THREW = "threw";
  static final String DONE = "done";

  static final String WITH_ROW = "with-row";
  static final String ALONE = "alone";

  private final LineFile file;
  private final String process;
  private final AtomicInteger takes = new AtomicInteger();

  /** Notes of one process start. */
  public MessageNotes(Path file, String process) throws IOException {
    this.file = new LineFile(file);
    this.process = process;
  }

  /** Where the notes of a node lie: beside its history. */
  public static Path beside(Path history) {
    return history.resolveSibling(
        history.getFileName().toString().replace(".history", ".messages"));
  }

  void publish(String commit, String topic, Publish<Errand> of, String what) {
    file.line(
        PUBLISH,
        System.nanoTime(),
        of.payload().id(),
        commit,
        topic,
        lane(of.group(), of.key()),
        of.key(),
        of.timing().after() == null ? 0 : of.timing().after().toMillis(),
        of.payload().kind(),
        what);
  }

  static String lane(@Nullable String group, String key) {
    return group == null ? key : group + ":";
  }

  void about(String what, String of) {
    file.line(what, System.nanoTime(), of);
  }

  /** The id of a take that begins. */
  String taken(Errand errand, Held held) {
    String take = process + "/" + takes.incrementAndGet();
    file.line(
        TAKEN,
        System.nanoTime(),
        take,
        errand.id(),
        held.lane(),
        held.fence(),
        held.attempt(),
        held.dueMillis(),
        held.askedAt(),
        held.leaseEnd(),
        process);
    return take;
  }

  /**
   * What a handler was given; immutable.
   *
   * @param askedAt not before this the message was asked for, in nanos; 0 when that is not known
   * @param leaseEnd not before this the lease ends, in nanos; 0 when it had ended
   */
  record Held(String lane, long fence, int attempt, long dueMillis, long askedAt, long leaseEnd) {}

  void extended(String take, long leaseEnd) {
    file.line(EXTENDED, System.nanoTime(), take, leaseEnd);
  }

  void rows(String take, String commit) {
    file.line(ROWS, System.nanoTime(), take, commit);
  }
}
