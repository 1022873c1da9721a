package io.gameq.writer.pause;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads once a second what operators paused. While MySQL does not answer, what was read last stays
 * in force. Thread-safe.
 */
public final class PauseWatch implements Supplier<Pauses> {
  private static final Duration EVERY = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(PauseWatch.class);

  private final Supplier<List<WriterPause>> read;
  private final String writer;
  private volatile Pauses latest = Pauses.NONE;

  /**
   * Reads once, so that nothing is claimed before it is known what is paused.
   *
   * @param read asks MySQL
   * @param writer the name of this writer
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public PauseWatch(Supplier<List<WriterPause>> read, String writer) {
    this.read = read;
    this.writer = writer;
    look();
  }

  /** What reads. */
  public Agent duty() {
    return Duty.every(EVERY, "look what is paused", this::look);
  }

  private void look() {
    Pauses now = new Pauses(read.get());
    Pauses before = latest;
    latest = now;
    now.all().stream()
        .filter(pause -> !before.all().contains(pause) && concerns(pause))
        .forEach(pause -> LOG.info("{}", Pauses.line(pause)));
    before.all().stream()
        .filter(pause -> now.find(pause.scope(), pause.name()) == null && concerns(pause))
        .forEach(pause -> LOG.info("{} is resumed", Pauses.what(pause)));
  }

  private boolean concerns(WriterPause pause) {
    return pause.scope() != Scope.WRITER || pause.name().equals(writer);
  }

  /** What is paused, as it was read last. */
  @Override
  public Pauses get() {
    return latest;
  }

  /** Why this writer claims nothing at all; null when it may. */
  public @Nullable WriterPause ofThisWriter() {
    return latest.ofWriter(writer);
  }

  /** Whether this writer claims nothing of a slot. */
  public boolean isPaused(int slot) {
    return latest.ofWriter(writer) != null || latest.ofSlot(slot) != null;
  }
}
