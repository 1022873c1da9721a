package io.gameq.writer.campaign;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One commit as its node saw it: invoked, and perhaps ended. Used by one thread.
 *
 * <p>Its id is the value that it writes into every row, so that a row names its writer. Times are
 * {@link System#nanoTime}, which all processes of a Linux host share.
 */
public final class Attempt {
  public enum Outcome {
    /** The node was killed before it knew. */
    UNANSWERED,
    OK,
    FAIL,
    UNKNOWN
  }

  /** The session under which an owner's rows were written. */
  public record Part(String owner, long epoch) {}

  public final String id;
  public final long invokedAt;
  public final List<Part> parts;
  public final List<Change> changes;

  /** Row to the version that the WAL has it in, where the WALs were read. */
  final Map<String, Long> versions = new HashMap<>();

  public Outcome outcome = Outcome.UNANSWERED;

  /** From when on everybody must see it: acknowledged, or seen by somebody. */
  public long knownAt = Long.MAX_VALUE;

  /** Whether anybody saw it when nothing was amiss; an acknowledgement alone does not count. */
  boolean seen;

  /** Whether the node learned that MySQL has it. */
  boolean durable;

  Attempt(String id, long invokedAt, List<Part> parts, List<Change> changes) {
    this.id = id;
    this.invokedAt = invokedAt;
    this.parts = List.copyOf(parts);
    this.changes = List.copyOf(changes);
  }

  /** The process that made it: the first two parts of its id. */
  String process() {
    return process(id);
  }

  static String process(String id) {
    String plain =
        id.startsWith(CampaignTables.POISON) ? id.substring(CampaignTables.POISON.length()) : id;
    int second = plain.indexOf('.', plain.indexOf('.') + 1);
    return plain.substring(0, second < 0 ? plain.length() : second);
  }

  void end(Outcome how, long at) {
    outcome = how;
    if (how == Outcome.OK) {
      known(at);
    }
  }

  void seen(long at) {
    seen = true;
    known(at);
  }

  private void known(long at) {
    knownAt = Math.min(knownAt, at);
  }

  @Override
  public String toString() {
    return id + " (" + outcome + ")";
  }
}
