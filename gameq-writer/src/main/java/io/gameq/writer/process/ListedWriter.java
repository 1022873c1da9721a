package io.gameq.writer.process;

import io.gameq.redis.script.ProcessSigns.ProcessSign;
import io.gameq.sign.SignFields;
import io.gameq.terminal.Shown;
import java.util.ArrayList;
import java.util.List;

/**
 * A writer, by what it said last. Immutable.
 *
 * @param id of this start of it, 8 hex digits
 * @param silentMillis how long ago it said so
 * @param aheadMillis by how much its host's clock was ahead of Redis' then; negative when behind
 * @param isGone whether that is too long ago for one that runs
 */
public record ListedWriter(
    String id, long silentMillis, long aheadMillis, boolean isGone, WriterSign sign) {
  /** What it was doing is of use no longer than this; its claims have been taken over by then. */
  private static final long SHOWN_GONE_MILLIS = 3_600_000;

  /** What a writer is doing that cannot say so. */
  private static final String GONE = "gone";

  static ListedWriter of(ProcessSign said) {
    return new ListedWriter(
        said.id(),
        said.silentMillis(),
        said.aheadMillis(),
        !said.isFresh(),
        SignFields.read(WriterSign.class, said.fields()));
  }

  /** Whether anybody wants to know of it still. */
  boolean isWorthShowing() {
    return silentMillis < SHOWN_GONE_MILLIS;
  }

  /** What it is doing, as operators read it. */
  public String state() {
    return isGone ? GONE : sign.phase();
  }

  /** What is to be done about it, each in one line; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    if (!isGone && sign.outage()) {
      all.add("%s does not reach MySQL: rows wait in Redis".formatted(who()));
    }
    if (!isGone && !sign.parked().isEmpty()) {
      all.add(
          "%s cannot write to %s: its log says why".formatted(who(), Shown.text(sign.parked())));
    }
    if (!isGone) {
      Processes.clock(who(), aheadMillis, all);
    }
    return all;
  }

  private String who() {
    return "writer " + Shown.text(sign.process().name());
  }
}
