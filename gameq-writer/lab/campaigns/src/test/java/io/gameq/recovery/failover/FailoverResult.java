package io.gameq.recovery.failover;

import io.gameq.writer.campaign.SentOutcome;
import io.gameq.writer.campaign.Violation;
import io.gameq.writer.campaign.messages.MessageOutcome;
import java.util.List;

/** A line of the table; immutable. */
record FailoverResult(
    String failover,
    long seed,
    long acknowledged,
    Losses.Count losses,
    long replayedByNodes,
    long writtenByTool,
    long conflicts,
    double firstCommitSeconds,
    double healedSeconds,
    double drainSeconds,
    List<Violation> violations,
    SentOutcome sent,
    MessageOutcome messages) {
  long count(Violation.Kind kind) {
    return violations.stream().filter(violation -> violation.kind() == kind).count();
  }
}
